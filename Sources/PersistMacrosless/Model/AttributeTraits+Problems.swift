import Persist

extension AttributeTraits {
  /// The problems of a declaration: traits that don't apply to an attribute of its type or can't be parsed, each with a
  /// fix.
  func problems(of type: AttributeType) -> [(message: String, fix: String)] {
    var problems: [(String, String)] = []
    if type != .string, lengths != nil {
      problems.append(
        ("A value of type \(type.rawValue) has no length.", "Remove 'length:', or limit it with 'range:'."))
    }
    if type != .string, pattern != nil {
      problems.append(("A value of type \(type.rawValue) can't match a pattern.", "Remove 'pattern:'."))
    }
    if allowsExternalStorage, ![.binary, .transformable].contains(type) {
      problems.append(
        ("A value of type \(type.rawValue) can't be stored externally.", "Remove 'externalStorage:'."))
    }
    if let rule, let error = Self.error(reading: rule) {
      problems.append(("The rule '\(rule)' can't be read: \(error.message)", "Correct it."))
    }
    return problems
  }

  private static func error(reading rule: String) -> PersistenceError? {
    do {
      _ = try FetchPredicate(rule)
      return nil
    } catch {
      return error as? PersistenceError ?? PersistenceError(.invalidPredicate, "\(error)")
    }
  }
}
