import Foundation

/// One object of a keyed archive, or a plain value that stands in its place.
struct ArchivedObject {
  let archive: KeyedArchive
  let value: PropertyList
  /// Its number in the archive, which is its identity; nil for a value that stands in another object.
  let number: Int?

  /// The name of its class; nil for a plain value.
  var className: String? { classValue?["$classname"]?.stringValue }

  /// Whether its class is `name` or inherits from it.
  func isKind(of name: String) -> Bool {
    className == name || classValue?["$classes"]?.arrayValue?.prefix(16).contains(.string(name)) == true
  }

  private var classValue: PropertyList? {
    guard let reference = value["$class"] else { return nil }
    return try? archive.resolve(reference)?.value
  }

  /// The names of its members, in order.
  var keys: [String] { (value.dictionaryValue?.keys.filter { $0 != "$class" } ?? []).sorted() }

  /// A member; nil where it is absent or null.
  func member(_ key: String) throws -> ArchivedObject? { try value[key].flatMap(archive.resolve) }

  /// Where a member stands, for errors.
  func place(_ key: String? = nil) -> PersistenceError.Place {
    var place = archive.place
    let own = number.map { "$objects[\($0)]" }
    place.key = [own, key].compactMap { $0 }.joined(separator: ".")
    return place
  }

  func expected(_ what: String, for key: String) -> PersistenceError {
    PersistenceError(.malformedFile, at: place(key), "\(what) was expected here.")
  }
}

extension ArchivedObject {
  /// The text that the object is.
  var text: String? {
    get throws {
      if let text = value.stringValue { return text }
      guard isKind(of: "NSString") else { return nil }
      return try member("NS.string")?.value.stringValue
    }
  }

  /// A text member; nil where it is absent or null.
  func text(_ key: String) throws -> String? {
    guard let member = try member(key) else { return nil }
    guard let text = try member.text else { throw expected("A text", for: key) }
    return text
  }

  func requiredText(_ key: String) throws -> String {
    guard let text = try text(key), !text.isEmpty else { throw expected("A text", for: key) }
    return text
  }

  /// A whole number; `fallback` where it is absent.
  func integer(_ key: String, default fallback: Int64 = 0) throws -> Int64 {
    guard let member = try member(key) else { return fallback }
    guard let number = member.value.integerValue else { throw expected("A whole number", for: key) }
    return number
  }

  /// A Boolean; `fallback` where it is absent.
  func flag(_ key: String, default fallback: Bool = false) throws -> Bool {
    try integer(key, default: fallback ? 1 : 0) != 0
  }

  /// The elements of an array or a set; none where the member is absent.
  func elements(_ key: String) throws -> [ArchivedObject] {
    guard let member = try member(key) else { return [] }
    guard let elements = try member.elements else { throw expected("An array or a set", for: key) }
    return elements
  }

  /// Names and values of a dictionary, in the order of the names; none where the member is absent.
  func entries(_ key: String) throws -> [(name: String, value: ArchivedObject)] {
    guard let member = try member(key) else { return [] }
    guard let entries = try member.entries else { throw expected("A dictionary with texts as keys", for: key) }
    return entries
  }

  /// The elements of an array or a set, nulls left out; nil for any other object.
  var elements: [ArchivedObject]? {
    get throws {
      if let plain = value.arrayValue { return try plain.compactMap(archive.resolve) }
      guard isKind(of: "NSArray") || isKind(of: "NSSet") || isKind(of: "NSOrderedSet") else { return nil }
      return try (value["NS.objects"]?.arrayValue ?? numbered("NS.object.")).compactMap(archive.resolve)
    }
  }

  /// Names and values of a dictionary, in the order of the names; nil for any other object.
  var entries: [(name: String, value: ArchivedObject)]? {
    get throws {
      guard let (keys, values) = try keysAndValues, keys.count == values.count else { return nil }
      var entries: [(name: String, value: ArchivedObject)] = []
      let emptyToken = try member("emptyToken")?.value
      for (key, value) in zip(keys, values) {
        guard let name = try archive.resolve(key)?.text else { return nil }
        guard let value = try archive.resolve(value), emptyToken == nil || value.value != emptyToken else { continue }
        entries.append((name, value))
      }
      return entries.sorted { $0.name < $1.name }
    }
  }

  private var keysAndValues: (keys: [PropertyList], values: [PropertyList])? {
    get throws {
      if isKind(of: "NSKnownKeysDictionary") || isKind(of: "NSKnownKeysDictionary1") {
        // Values in the order of names that a mapping shared with other dictionaries holds.
        guard let keys = try member("searchMapping")?.member("keys"), let values = try member("values"),
          let names = keys.value.arrayValue ?? keys.value["NS.objects"]?.arrayValue,
          let list = values.value.arrayValue ?? values.value["NS.objects"]?.arrayValue
        else { return nil }
        return (names, list)
      }
      guard isKind(of: "NSDictionary") else { return nil }
      return (
        value["NS.keys"]?.arrayValue ?? numbered("NS.key."), value["NS.objects"]?.arrayValue ?? numbered("NS.object.")
      )
    }
  }

  /// The members `prefix0`, `prefix1`, …: how early archives write collections.
  private func numbered(_ prefix: String) -> [PropertyList] {
    var values: [PropertyList] = []
    while let next = value["\(prefix)\(values.count)"] { values.append(next) }
    return values
  }
}
