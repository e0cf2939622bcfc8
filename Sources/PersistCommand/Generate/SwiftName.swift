import Persist

/// Conversion of a model's names to Swift names.
enum SwiftName {
  /// A name with underscores in place of characters that an identifier can't contain.
  static func identifier(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      let fits = scalar == "_" || scalar.properties.isXIDContinue || !scalar.isASCII && scalar.properties.isEmoji
      if result.isEmpty, !(scalar == "_" || scalar.properties.isXIDStart) { result += "_" }
      result.unicodeScalars.append(fits ? scalar : "_")
    }
    return result.isEmpty || result.allSatisfy({ $0 == "_" }) ? result + "_unnamed" : result
  }

  /// An identifier as written in source code: reserved words are in backticks.
  static func written(_ identifier: String) -> String {
    reserved.contains(identifier) ? "`\(identifier)`" : identifier
  }

  /// A name with its first letter in upper case, as in `addToTags`.
  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  /// Text as a Swift string literal.
  static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 32 || scalar.value == 127 || scalar.properties.isBidiControl:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Properties of every managed object; a subclass can't declare another property of the same name.
  static let ofManagedObject: Set<String> = [
    "changedPropertyNames", "changedValues", "changedValuesForCurrentEvent", "committedValues", "description", "entity",
    "entityName", "fetchEntityName", "fetchExpression", "fetchIdentity", "fetchRequest", "generatedClasses",
    "hasChanges", "hasPersistentChangedValues", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "objectID", "self", "validators",
  ]

  private static let reserved: Set<String> = [
    "Any", "Protocol", "Self", "Type", "actor", "as", "associatedtype", "await", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
    "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
    "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
