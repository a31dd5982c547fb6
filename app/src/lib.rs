//! The faces and the model they share.
