//! What an executable is linked with, read from the file: nothing is run or loaded.
#![forbid(unsafe_code)]

use object::Object;

/// The libraries a program asks the dynamic linker for (`DT_NEEDED`), in order. Empty for a static
/// program, and for bytes that are no ELF file.
#[must_use]
pub fn needed(program: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(program) else {
        return Vec::new();
    };
    let Ok(libraries) = file.import_libraries() else {
        return Vec::new();
    };
    libraries
        .flatten()
        .map(|library| String::from_utf8_lossy(library.name()).into_owned())
        .collect()
}

/// The sonames of the cryptographic library among them (`libcrypto.so.3`).
#[must_use]
pub fn libcrypto(program: &[u8]) -> Vec<String> {
    let mut needed = needed(program);
    needed.retain(|soname| soname.starts_with("libcrypto."));
    needed
}

/// The absolute paths in a program's strings that end in `/name`: programs it may start.
#[must_use]
pub fn paths_to(program: &[u8], name: &str) -> Vec<String> {
    let ending = format!("/{name}");
    let strings = program.split(|&byte| byte == 0);
    let paths = strings.filter(|string| string.ends_with(ending.as_bytes()) && string[0] == b'/');
    let mut paths: Vec<_> = paths
        .filter_map(|path| std::str::from_utf8(path).ok())
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Whether a program for x86-64 was compiled to clear every register whenever a function returns (GCC's
/// `-fzero-call-used-regs=all`): its code is full of the eight pushes and pops that clear the x87 stack, which
/// nothing else brings about.
#[must_use]
pub fn clears_registers(program: &[u8]) -> bool {
    /// Such a program has one in nearly every function; data may look like one now and then.
    const MANY: usize = 100;
    const FLDZ: [u8; 2] = [0xd9, 0xee];
    const FSTP: [u8; 2] = [0xdd, 0xd8];
    let clearing = [[FLDZ; 8].concat(), [FSTP; 8].concat()].concat();
    let windows = program.windows(clearing.len());
    windows.filter(|code| *code == clearing).take(MANY).count() == MANY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minimal 64-bit little-endian ELF file: a dynamic section that needs the given libraries, and
    /// the string table with their names.
    fn executable(libraries: &[&str]) -> Vec<u8> {
        const NEEDED: u64 = 1;
        const HEADER: u64 = 64;
        const STRTAB: u64 = 3;
        const DYNAMIC: u64 = 6;
        let mut names = vec![0];
        let mut entries = Vec::new();
        for library in libraries {
            entries.push([NEEDED, names.len() as u64]);
            names.extend(library.bytes().chain([0]));
        }
        entries.push([0, 0]);
        let dynamic_len = 16 * entries.len() as u64;
        let names_at = HEADER + dynamic_len;
        let names_len = names.len() as u64;

        let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut put = |width: usize, values: &[u64]| {
            for value in values {
                file.extend(&value.to_le_bytes()[..width]);
            }
        };
        put(2, &[3, 62]);
        put(4, &[1]);
        put(8, &[0, 0, names_at + names_len]);
        put(4, &[0]);
        put(2, &[HEADER, 56, 0, 64, 3, 2]);
        put(8, entries.as_flattened());
        put(
            1,
            &names.iter().map(|&byte| byte.into()).collect::<Vec<_>>(),
        );
        for (kind, at, len, link) in [
            (0, 0, 0, 0),
            (DYNAMIC, HEADER, dynamic_len, 2),
            (STRTAB, names_at, names_len, 0),
        ] {
            put(4, &[0, kind]);
            put(8, &[0, at, at, len]);
            put(4, &[link, 0]);
            put(8, &[1, 16]);
        }
        file
    }

    #[test]
    fn the_library_is_found_among_those_needed() {
        let program = executable(&["libselinux.so.1", "libcrypto.so.3", "libc.so.6"]);
        assert_eq!(
            needed(&program),
            ["libselinux.so.1", "libcrypto.so.3", "libc.so.6"]
        );
        assert_eq!(libcrypto(&program), ["libcrypto.so.3"]);
        assert!(libcrypto(&executable(&["libc.so.6"])).is_empty());
    }

    #[test]
    fn code_that_clears_all_registers_is_told_by_its_x87_stack() {
        let pushes_and_pops = [[0xd9, 0xee].repeat(8), [0xdd, 0xd8].repeat(8)].concat();
        let returns = [pushes_and_pops, vec![0x31, 0xd2, 0xc3]].concat();
        assert!(clears_registers(&returns.repeat(100)));
        assert!(!clears_registers(&returns.repeat(3)), "a coincidence");
        assert!(!clears_registers(&[0xd9, 0xee].repeat(9000)), "no pops");
    }

    #[test]
    fn junk_and_cut_files_need_nothing() {
        let program = executable(&["libcrypto.so.1.1"]);
        for len in 0..program.len() {
            let _ = needed(&program[..len]);
        }
        assert!(needed(b"#!/bin/sh\n").is_empty());
        assert!(needed(&[0xff; 300]).is_empty());
    }

    #[test]
    fn paths_of_other_programs_are_found_in_the_strings() {
        let program = b"\0\0usage\0/usr/lib/openssh/sshd-session\0x/sshd-session\0%s/sshd-session \0/usr/lib/openssh/sshd-session\0";
        assert_eq!(
            paths_to(program, "sshd-session"),
            ["/usr/lib/openssh/sshd-session"]
        );
        assert!(paths_to(program, "sshd-auth").is_empty());
    }
}
