/// The settings of SQLCipher that determine how a file is encrypted, in the order in which they are set.
///
/// - SeeAlso: <https://www.zetetic.net/sqlcipher/sqlcipher-api/>
package enum CipherSetting {
  package static let names = [
    // The first one sets several of the others, so it comes first.
    "cipher_compatibility", "cipher_page_size", "kdf_iter", "cipher_hmac_algorithm", "cipher_kdf_algorithm",
    "cipher_use_hmac", "cipher_plaintext_header_size", "cipher_salt",
  ]
  /// Pragmas that contain a key, or write statements somewhere.
  private static let refused = [
    "key", "hexkey", "textkey", "rekey", "hexrekey", "textrekey", "cipher_profile", "cipher_log", "cipher_migrate",
  ]

  /// The settings among the pragmas of a store's options, by their names in lower case.
  package static func settings(among pragmas: [String: String]) -> [String: String] {
    var settings: [String: String] = Dictionary()
    // SQLite's name for the size of a page means SQLCipher's.
    for (name, value) in pragmas where name.lowercased() == "page_size" { settings["cipher_page_size"] = value }
    for (name, value) in pragmas where names.contains(name.lowercased()) { settings[name.lowercased()] = value }
    return settings
  }

  /// Whether a pragma of the options applies to an encrypted store as it is; false for one that is set with the key.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for pragmas that contain a key, or that would write parts of
  ///   the store to plain files.
  package static func isOrdinary(_ name: String, _ value: String, isEncrypted: Bool) throws -> Bool {
    if refused.contains(name) {
      throw PersistenceError(
        .invalidRequest, "The pragma '\(name)' isn't set by options.",
        fix: "Set StoreOptions.key, which never becomes a part of a statement.")
    }
    guard isEncrypted else {
      guard names.contains(name), name != "page_size" else { return true }
      throw PersistenceError(
        .invalidRequest, "The pragma '\(name)' is a setting of encrypted stores, and the store has no key.",
        fix: "Set StoreOptions.key, or leave the pragma out.")
    }
    if name == "temp_store", !["memory", "2"].contains(value.lowercased()) {
      throw PersistenceError(
        .invalidRequest, "Temporary files of an encrypted store wouldn't be encrypted.",
        fix: "Leave out the pragma 'temp_store'.")
    }
    return !names.contains(name) && name != "page_size"
  }

  /// The statement for a setting.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the value isn't a word, a number or, for a salt, 32 digits.
  package static func statement(_ name: String, _ value: String, schema: String = "") throws -> SQLText {
    guard name == "cipher_salt" else { return SQLText(checked: "PRAGMA \(schema)\(try Pragma(name, value).text)") }
    guard value.utf8.count == 32, value.allSatisfy(\.isHexDigit) else {
      throw PersistenceError(
        .invalidRequest, "A salt consists of 32 hexadecimal digits.",
        fix: "Write 16 bytes without a prefix, or give StoreKey.raw 48 bytes, the last 16 of which are the salt.")
    }
    return SQLText(checked: "PRAGMA \(schema)cipher_salt = \"x'\(value)'\"")
  }

  /// The statements that set a setting for databases to be attached, and that restore SQLCipher's own default.
  package static func defaults(_ settings: [String: String]) throws -> (set: [SQLText], reset: [SQLText]) {
    let own: [String: String] = [
      "cipher_compatibility": "4", "cipher_page_size": "4096", "kdf_iter": "256000",
      "cipher_hmac_algorithm": "HMAC_SHA512", "cipher_kdf_algorithm": "PBKDF2_HMAC_SHA512", "cipher_use_hmac": "ON",
      "cipher_plaintext_header_size": "0",
    ]
    var (set, reset): ([SQLText], [SQLText]) = ([], [])
    for name in names where own[name] != nil && settings[name] != nil {
      let prefix = name.hasPrefix("cipher_") ? "cipher_default_\(name.dropFirst(7))" : "cipher_default_\(name)"
      if let value = settings[name] { set.append(.set(try Pragma(prefix, value))) }
      if let value = own[name] { reset.append(.set(try Pragma(prefix, value))) }
    }
    return (set, reset)
  }
}

extension SQLText {
  /// Keeps everything temporary out of files: SQLCipher doesn't encrypt them.
  package static let tempStoreMemory: SQLText = "PRAGMA temp_store = MEMORY"
  /// Switches off the log of the library, of the whole program.
  package static let quietCipher: SQLText = "PRAGMA cipher_log_level = NONE"
  /// Copies the whole database into the attached one, each with its own encryption.
  package static let exportToCopy: SQLText = "SELECT sqlcipher_export('copy')"
  package static func setCopyMark(userVersion: Int64, applicationID: Int64) -> [SQLText] {
    [
      "PRAGMA copy.user_version = \(number: userVersion)", "PRAGMA copy.application_id = \(number: applicationID)",
    ]
  }
}
