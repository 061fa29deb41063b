//! The table of commands that take a password as an argument.

/// How an option carries its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretForm {
    /// `-p SECRET` or `-pSECRET`
    Either,
    /// `-pSECRET` only; `-p` alone prompts.
    Attached,
    /// `-p SECRET` only.
    Next,
    /// `-u user:SECRET` or `-uuser:SECRET`
    AfterColon,
    /// `-U user%SECRET`
    AfterPercent,
    /// `-u user,SECRET`
    AfterComma,
    /// `-passin pass:SECRET`
    AfterPass,
    /// `--from-literal=name=SECRET`
    AfterName,
    /// `-b name=SECRET; name=SECRET`
    Cookies,
}

use SecretForm::{
    AfterColon, AfterComma, AfterName, AfterPass, AfterPercent, Attached, Cookies, Either, Next,
};

/// A command and its options that carry a secret.
pub(crate) struct CommandRule {
    pub name: &'static str,
    /// Applies only after this subcommand, such as `login`.
    pub subcommand: &'static str,
    pub options: &'static [(&'static str, SecretForm)],
    /// Position of a secret argument, counted from the command or subcommand.
    pub argument: Option<usize>,
}

const fn command(
    name: &'static str,
    options: &'static [(&'static str, SecretForm)],
) -> CommandRule {
    CommandRule { name, subcommand: "", options, argument: None }
}

const fn login(name: &'static str, options: &'static [(&'static str, SecretForm)]) -> CommandRule {
    CommandRule { name, subcommand: "login", options, argument: None }
}

const MYSQL: &[(&str, SecretForm)] = &[("-p", Attached)];
const MONGO: &[(&str, SecretForm)] = &[("-p", Next)];
const SQLCMD: &[(&str, SecretForm)] = &[("-P", Either)];
const LDAP: &[(&str, SecretForm)] = &[("-w", Either)];
const SMB: &[(&str, SecretForm)] = &[("-U", AfterPercent), ("--user", AfterPercent)];
const LOGIN: &[(&str, SecretForm)] = &[("-p", Either)];
const HTTP: &[(&str, SecretForm)] = &[("-a", AfterColon), ("--auth", AfterColon)];
const SNMP: &[(&str, SecretForm)] = &[("-A", Next), ("-X", Next)];

/// The commands. A longer name precedes any name that is a prefix of it.
#[rustfmt::skip]
pub(crate) const COMMANDS: &[CommandRule] = &[
    command("curl", &[
        ("-u", AfterColon), ("--user", AfterColon), ("-U", AfterColon),
        ("--proxy-user", AfterColon), ("--oauth2-bearer", Next), ("--pass", Next),
        ("-b", Cookies), ("--cookie", Cookies), ("-E", AfterColon), ("--cert", AfterColon), ("--tlspassword", Next),
    ]),
    command("wget", &[("--user", AfterColon), ("--http-passwd", Next), ("--ftp-password", Next)]),
    command("https", HTTP), command("http", HTTP), command("xhs", HTTP), command("xh", HTTP),
    command("mysqldump", MYSQL), command("mysqladmin", MYSQL), command("mysqlimport", MYSQL),
    command("mysqlshow", MYSQL), command("mysqlcheck", MYSQL), command("mysqlbinlog", MYSQL),
    command("mysqlsh", MYSQL), command("mysqlpump", MYSQL), command("mysql", MYSQL),
    command("mariadb-dump", MYSQL), command("mariadb-admin", MYSQL), command("mariadb", MYSQL),
    command("mycli", MYSQL), command("mydumper", &[("-p", Either)]), command("myloader", &[("-p", Either)]),
    command("mongodump", MONGO), command("mongorestore", MONGO), command("mongoexport", MONGO),
    command("mongoimport", MONGO), command("mongostat", MONGO), command("mongosh", MONGO),
    command("mongo", MONGO),
    command("redis-cli", &[("-a", Next), ("--pass", Next)]),
    command("cqlsh", &[("-p", Either)]),
    command("sqlcmd", SQLCMD), command("bcp", SQLCMD), command("isql", SQLCMD),
    command("osql", SQLCMD), command("tsql", SQLCMD),
    command("influx", &[("-password", Next), ("-t", Next)]),
    command("sshpass", &[("-p", Either)]),
    command("zipcloak", &[("-P", Either)]), command("zip", &[("-P", Either)]),
    command("unzip", &[("-P", Either)]),
    command("7za", &[("-p", Attached)]), command("7zz", &[("-p", Attached)]), command("7zr", &[("-p", Attached)]),
    command("7z", &[("-p", Attached)]),
    command("unrar", &[("-p", Attached)]), command("rar", &[("-hp", Attached), ("-p", Attached)]),
    command("ldapsearch", LDAP), command("ldapadd", LDAP), command("ldapmodify", LDAP),
    command("ldapdelete", LDAP), command("ldapwhoami", LDAP), command("ldapcompare", LDAP),
    command("ldappasswd", &[("-w", Either), ("-s", Either), ("-a", Either)]),
    command("smbclient", SMB), command("rpcclient", SMB), command("winexe", SMB),
    command("smbget", SMB), command("smbmap", &[("-p", Next)]),
    command("lftp", &[("-u", AfterComma)]), command("ncftpput", &[("-p", Next)]),
    command("ncftpget", &[("-p", Next)]), command("ncftp", &[("-p", Next)]),
    command("openssl", &[
        ("-passin", AfterPass), ("-passout", AfterPass), ("-pass", AfterPass),
        ("-k", Next), ("-K", Next), ("-password", AfterPass),
    ]),
    command("keytool", &[("-storepass", Next), ("-keypass", Next), ("-srcstorepass", Next), ("-deststorepass", Next)]),
    command("jarsigner", &[("-storepass", Next), ("-keypass", Next)]),
    command("gpg2", &[("--passphrase", Next)]), command("gpg", &[("--passphrase", Next)]),
    command("ipmitool", &[("-P", Next)]),
    command("snmpwalk", SNMP), command("snmpget", SNMP), command("snmpset", SNMP),
    command("xfreerdp", &[("/p:", Attached)]), command("wfreerdp", &[("/p:", Attached)]),
    command("rdesktop", &[("-p", Either)]),
    command("evil-winrm", &[("-p", Next)]), command("psexec", &[("-p", Next)]),
    login("docker", LOGIN), login("podman", LOGIN), login("nerdctl", LOGIN),
    login("buildah", LOGIN), login("skopeo", LOGIN), login("helm", LOGIN), login("oras", LOGIN),
    login("crane", LOGIN), login("az", LOGIN), login("oc", LOGIN), login("cf", LOGIN),
    login("ibmcloud", &[("-p", Next), ("-u", Next)]),
    CommandRule { name: "vault", subcommand: "login", options: &[], argument: Some(0) },
    CommandRule { name: "snyk", subcommand: "auth", options: &[], argument: Some(0) },
    CommandRule { name: "htpasswd", subcommand: "", options: &[], argument: None },
    CommandRule { name: "wpa_passphrase", subcommand: "", options: &[], argument: Some(1) },
    CommandRule { name: "bw", subcommand: "unlock", options: &[], argument: Some(0) },
    CommandRule { name: "security", subcommand: "add-generic-password", options: &[("-w", Next)], argument: None },
    CommandRule { name: "security", subcommand: "add-internet-password", options: &[("-w", Next)], argument: None },
    CommandRule { name: "security", subcommand: "unlock-keychain", options: &[("-p", Next)], argument: None },
    CommandRule { name: "security", subcommand: "import", options: &[("-P", Next)], argument: None },
    CommandRule { name: "kubectl", subcommand: "secret", options: &[("--from-literal", AfterName), ("--docker-password", Next)], argument: None },
    CommandRule { name: "gh", subcommand: "set", options: &[("-b", Next), ("--body", Next)], argument: None },
    command("twine", &[("-p", Next)]),
    command("mosquitto_pub", &[("-P", Next)]), command("mosquitto_sub", &[("-P", Next)]),
    command("plink", &[("-pw", Next)]), command("pscp", &[("-pw", Next)]), command("psftp", &[("-pw", Next)]),
    command("nxc", &[("-p", Next)]), command("netexec", &[("-p", Next)]), command("crackmapexec", &[("-p", Next)]),
    command("wmic", &[("/password:", Attached)]),
    command("db2", &[("using", Next)]),
    command("useradd", &[("-p", Next)]), command("usermod", &[("-p", Next)]),
    command("sqlplus", &[]), command("chpasswd", &[]), command("sudo", &[]), command("net", &[]),
    command("echo", &[]), command("printf", &[]),
    command("nmcli", &[("password", Next)]),
    CommandRule { name: "sentinel", subcommand: "auth-pass", options: &[], argument: Some(1) },
    CommandRule { name: "rabbitmqctl", subcommand: "add_user", options: &[], argument: Some(1) },
    CommandRule { name: "ConvertTo-SecureString", subcommand: "", options: &[("-String", Next)], argument: Some(0) },
    CommandRule { name: "ssh-keygen", subcommand: "", options: &[("-N", Next), ("-P", Next)], argument: None },
];
