//! The rules of the house, enforced on the sources.
