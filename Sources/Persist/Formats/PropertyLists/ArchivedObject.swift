import Foundation

/// An object of a keyed archive, or a plain value in its place.
package final class ArchivedObject {
  package let archive: KeyedArchive
  package let value: PropertyList
  /// The object's number in the archive, which is its identity; nil for a value that is inline in another object.
  let number: Int?

  init(archive: KeyedArchive, value: PropertyList, number: Int?) {
    self.archive = archive
    self.value = value
    self.number = number
  }

  /// The name of the object's class; nil for a plain value.
  @inline(never)
  package var className: String? { classValue?["$classname"]?.stringValue }

  /// Whether the object's class is `name` or inherits from it.
  package func isKind(of name: String) -> Bool {
    className == name || classValue?["$classes"]?.arrayValue?.prefix(16).contains(.string(name)) == true
  }

  private var classValue: PropertyList? {
    guard let reference = value["$class"] else { return nil }
    return try? archive.resolve(reference)?.value
  }

  /// The names of the object's members, sorted.
  var keys: [String] { (value.dictionaryValue?.keys.filter { $0 != "$class" } ?? []).sorted() }

  /// Returns a member; nil if it is absent or null.
  @inline(never)
  package func member(_ key: String) throws -> ArchivedObject? { try value[key].flatMap(archive.resolve) }

  /// Returns the place of a member, for errors.
  package func place(_ key: String? = nil) -> PersistenceError.Place {
    var place = archive.place
    let own = number.map { "$objects[\($0)]" }
    place.key = [own, key].compactMap { $0 }.joined(separator: ".")
    return place
  }

  @inline(never)
  package func expected(_ what: String, for key: String) -> PersistenceError {
    PersistenceError(.malformedFile, at: place(key), "\(what) was expected here.")
  }
}

extension ArchivedObject {
  /// The string that the object represents; nil if it isn't one.
  package var text: String? {
    @inline(never) get throws {
      if let text = value.stringValue { return text }
      guard isKind(of: "NSString") else { return nil }
      return try member("NS.string")?.value.stringValue
    }
  }

  /// Returns a string member; nil if it is absent or null.
  @inline(never)
  package func text(_ key: String) throws -> String? {
    guard let member = try member(key) else { return nil }
    guard let text = try member.text else { throw expected("A text", for: key) }
    return text
  }

  package func requiredText(_ key: String) throws -> String {
    guard let text = try text(key), !text.isEmpty else { throw expected("A text", for: key) }
    return text
  }

  /// Returns a whole number; `fallback` if it is absent.
  @inline(never)
  package func integer(_ key: String, default fallback: Int64 = 0) throws -> Int64 {
    guard let member = try member(key) else { return fallback }
    guard let number = member.value.integerValue else { throw expected("A whole number", for: key) }
    return number
  }

  /// Returns a Boolean; `fallback` if it is absent.
  @inline(never)
  func flag(_ key: String, default fallback: Bool = false) throws -> Bool {
    try integer(key, default: fallback ? 1 : 0) != 0
  }

  /// Returns the elements of an array or a set; none if the member is absent.
  @inline(never)
  package func elements(_ key: String) throws -> [ArchivedObject] {
    guard let member = try member(key) else { return [] }
    guard let elements = try member.elements else { throw expected("An array or a set", for: key) }
    return elements
  }

  /// Returns the names and values of a dictionary, sorted by name; none if the member is absent.
  package func entries(_ key: String) throws -> [(name: String, value: ArchivedObject)] {
    guard let member = try member(key) else { return [] }
    guard let entries = try member.entries else { throw expected("A dictionary with string keys", for: key) }
    return entries
  }

  /// The elements of an array or a set, without nulls; nil for any other object.
  package var elements: [ArchivedObject]? {
    get throws {
      if let plain = value.arrayValue { return try plain.compactMap(archive.resolve) }
      guard isKind(of: "NSArray") || isKind(of: "NSSet") || isKind(of: "NSOrderedSet") else { return nil }
      return try (value["NS.objects"]?.arrayValue ?? numbered("NS.object.")).compactMap(archive.resolve)
    }
  }

  /// The names and values of a dictionary, sorted by name; nil for any other object.
  package var entries: [(name: String, value: ArchivedObject)]? {
    get throws {
      guard let (keys, values) = try keysAndValues, keys.count == values.count else { return nil }
      var entries: [(name: String, value: ArchivedObject)] = []
      let emptyToken = try member("emptyToken")?.value
      for (key, value) in zip(keys, values) {
        guard let name = try archive.resolve(key)?.text else { return nil }
        guard let value = try archive.resolve(value), emptyToken == nil || value.value != emptyToken else { continue }
        entries.append((name, value))
      }
      return entries.sorted(on: \.name)
    }
  }

  private var keysAndValues: (keys: [PropertyList], values: [PropertyList])? {
    get throws {
      if isKind(of: "NSKnownKeysDictionary") || isKind(of: "NSKnownKeysDictionary1") {
        // The values are in the order of the names, which are in a mapping shared with other dictionaries.
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

  /// Returns the members `prefix0`, `prefix1`, …: the form of collections in early archives.
  private func numbered(_ prefix: String) -> [PropertyList] {
    var values: [PropertyList] = []
    while let next = value["\(prefix)\(values.count)"] { values.append(next) }
    return values
  }
}
