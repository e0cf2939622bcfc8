/// A method that Core Data generates for a relationship.
struct ManagedMethod {
  struct Parameter {
    let label: String
    let name: String
    let type: String
  }

  let body: String

  init?(_ name: String, _ parameters: [Parameter]) {
    if let key = Self.key(in: name, after: "addTo"), let member = parameters.first {
      body = "addManaged(\(member.name), to: \"\(key)\")"
    } else if let key = Self.key(in: name, after: "removeFrom"), let member = parameters.first {
      body =
        member.label == "at"
        ? "removeManaged(at: \(member.name), from: \"\(key)\")" : "removeManaged(\(member.name), from: \"\(key)\")"
    } else if let key = Self.key(in: name, after: "insertInto"), parameters.count == 2 {
      body = "insertManaged(\(parameters[0].name), into: \"\(key)\", at: \(parameters[1].name))"
    } else if let key = Self.key(in: name, after: "replace"), parameters.count == 2 {
      body = "replaceManaged(at: \(parameters[0].name), in: \"\(key)\", with: \(parameters[1].name))"
    } else if let key = Self.key(in: name, after: "add"), let member = parameters.first, parameters.count == 1 {
      body = "addManaged(\(member.name), to: \"\(Self.withoutObject(key))\")"
    } else if let key = Self.key(in: name, after: "remove"), let member = parameters.first, parameters.count == 1 {
      body = "removeManaged(\(member.name), from: \"\(Self.withoutObject(key))\")"
    } else {
      return nil
    }
  }

  /// Objective-C's accessors of single members, `addItemsObject(_:)`.
  private static func withoutObject(_ key: String) -> String {
    key.hasSuffix("Object") && key.count > 6 ? String(key.dropLast(6)) : key
  }

  private static func key(in name: String, after prefix: String) -> String? {
    guard name.hasPrefix(prefix) else { return nil }
    let rest = name.dropFirst(prefix.count)
    guard let first = rest.first, first.isUppercase else { return nil }
    // An acronym keeps its case, as in a property named URLs.
    if rest.dropFirst().first?.isUppercase == true { return String(rest) }
    return first.lowercased() + rest.dropFirst()
  }
}
