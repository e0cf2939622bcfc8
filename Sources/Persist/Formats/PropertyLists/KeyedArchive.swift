package import Foundation

/// The objects of an archive that `NSKeyedArchiver` wrote.
///
/// Such an archive is a property list: `$objects` holds every object once, flat; objects refer to each other by
/// UID, and to their class by `$class`; `$top` names the roots. Nothing is instantiated here; ``ArchivedObject``
/// walks the list.
///
/// Objects may be shared and may form cycles, so reading counts its steps: a small archive can't cost unbounded time,
/// whatever it contains.
package final class KeyedArchive {
  /// The source of the archive, for errors.
  package let place: PersistenceError.Place
  private let objects: [PropertyList]
  private let top: [String: PropertyList]
  private var stepsLeft: Int

  package convenience init(data: Data, place: PersistenceError.Place) throws {
    try self.init(PropertyList(data: data, place: place), place: place)
  }

  init(_ list: PropertyList, place: PersistenceError.Place) throws {
    guard let objects = list["$objects"]?.arrayValue, let top = list["$top"]?.dictionaryValue, !objects.isEmpty else {
      throw PersistenceError(
        .malformedFile, at: place, "This property list isn't a keyed archive: it has no '$objects' and '$top'.")
    }
    self.objects = objects
    self.top = top
    self.place = place
    stepsLeft = min(10_000_000, 100_000 + 100 * objects.count)
    for object in objects { try checkReferences(object) }
    try checkReferences(.dictionary(top))
  }

  /// Returns the archive's root object.
  package func root() throws -> ArchivedObject {
    guard let reference = top["root"] ?? (top.count == 1 ? top.values.first : nil),
      let root = try resolve(reference)
    else { throw PersistenceError(.malformedFile, at: place, "The keyed archive has no root object.") }
    return root
  }

  /// Resolves a value: the object that a reference names, or the value itself; nil for null.
  @inline(never)
  func resolve(_ value: PropertyList) throws -> ArchivedObject? {
    try spend(1)
    guard let number = Self.reference(value) else { return ArchivedObject(archive: self, value: value, number: nil) }
    let object = objects[number]
    if object == .null || object == .string("$null") { return nil }
    return ArchivedObject(archive: self, value: object, number: number)
  }

  /// Counts steps of work.
  ///
  /// - Throws: ``PersistenceError/Code/limitExceeded`` if the total exceeds what a well-formed archive of this size
  ///   needs.
  func spend(_ steps: Int) throws {
    stepsLeft -= steps
    guard stepsLeft < 0 else { return }
    throw PersistenceError(
      .limitExceeded, at: place, "Reading this archive of \(objects.count) objects takes too many steps.",
      fix: "Its objects refer to each other repeatedly; no archiver writes such a file.")
  }

  /// Checks that every reference names an existing object, so that later steps needn't.
  private func checkReferences(_ value: PropertyList) throws {
    if let number = Self.reference(value) {
      guard objects.indices.contains(number) else {
        throw PersistenceError(
          .malformedFile, at: place,
          "The keyed archive refers to object \(number); it has \(objects.count) objects.")
      }
      return
    }
    switch value {
    case .array(let elements): for element in elements { try checkReferences(element) }
    case .dictionary(let entries): for entry in entries.values { try checkReferences(entry) }
    default: break
    }
  }

  /// Returns the object number in a UID, -1 if it is out of range; archives in XML have `CF$UID` dictionaries instead.
  private static func reference(_ value: PropertyList) -> Int? {
    switch value {
    case .uid(let number): Int(exactly: number) ?? -1
    case .dictionary(let entries) where entries.count == 1:
      if case .integer(let number)? = entries["CF$UID"] { Int(exactly: number) ?? -1 } else { nil }
    default: nil
    }
  }
}
