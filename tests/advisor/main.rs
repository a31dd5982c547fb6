//! The advisor against the real `ssh` and `sshd`.
