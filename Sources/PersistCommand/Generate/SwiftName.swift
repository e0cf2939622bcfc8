import Persist

/// Names of a model as names of Swift.
enum SwiftName {
  /// A name with what no identifier may have replaced by underscores.
  static func identifier(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      let fits = scalar == "_" || scalar.properties.isXIDContinue || !scalar.isASCII && scalar.properties.isEmoji
      if result.isEmpty, !(scalar == "_" || scalar.properties.isXIDStart) { result += "_" }
      result.unicodeScalars.append(fits ? scalar : "_")
    }
    return result.isEmpty || result.allSatisfy({ $0 == "_" }) ? result + "_unnamed" : result
  }

  /// An identifier as it is written where it is declared or used: reserved words between backticks.
  static func written(_ identifier: String) -> String {
    reserved.contains(identifier) ? "`\(identifier)`" : identifier
  }

  /// A name with its first letter in upper case, as in `addToTags`.
  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  /// A text as a Swift literal.
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

  /// Properties that every managed object has: a subclass can't declare another one of the name.
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
