//! The engine against vectors, other implementations, and every instruction-set row.
