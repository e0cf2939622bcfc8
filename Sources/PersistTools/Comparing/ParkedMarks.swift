import Foundation
import Persist

/// Marks of 24 bytes for each value, object and pair that is parked in a store, for comparing it with another store.
struct ParkedMarks {
  /// The subject of a slot. The slots of two stores may have different numbers.
  private struct Place: Hashable {
    let kind: ParkedSlot.Kind
    let name: String
    let version: String
    let model: String

    init(_ slot: ParkedSlot) {
      kind = slot.kind
      name = slot.keyPath.map { "\(slot.entity).\($0)" } ?? slot.entity
      version = slot.version
      model = slot.model
    }
  }

  private struct Mark: Hashable {
    let key: Int64
    /// The member of a pair.
    let member: Int64
    /// A hash of the value, or of the positions of a pair.
    let value: Int

    init(_ row: [SQLValue], of slot: ParkedSlot, includingValue includesValue: Bool) {
      let isPair = slot.kind == .relationship
      key = ParkedMarks.number(row[0])
      member = isPair ? ParkedMarks.number(row[1]) : 0
      // Stand-ins are values of the objects, and are compared together with these.
      value = includesValue ? ParkedMarks.hash(isPair ? Array(row[2..<4]) : [row[1]]) : 0
    }
  }

  private let includesValues: Bool
  private var marks: [Place: Set<Mark>] = [:]
  private var places: [Place] = []

  /// - Parameter includesValues: False for stores of different engines, which represent equal values differently.
  init(_ inspector: any StoreInspector, includingValues includesValues: Bool = true) throws {
    self.includesValues = includesValues
    guard try inspector.catalog().canHaveParkedValues else { return }
    for slot in try inspector.parkedSlots() {
      let place = Place(slot)
      if marks[place] == nil { places.append(place) }
      var own = marks.removeValue(forKey: place) ?? []
      try inspector.forEachParkedRow(of: slot, ParkedTypes(value: nil, standIn: nil)) { row in
        own.insert(Mark(row, of: slot, includingValue: includesValues))
      }
      marks[place] = own
    }
  }

  private static func hash(_ values: [SQLValue]) -> Int {
    var hasher = Hasher()
    for value in values {
      hasher.combine(value)
      // The hash of Data covers only its first bytes.
      if case .blob(let data) = value { data.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
    return hasher.finalize()
  }

  static func number(_ value: SQLValue) -> Int64 {
    if case .integer(let number) = value { number } else { 0 }
  }

  /// Whether a slot of another store is here too, perhaps with another number.
  func hasSlot(like slot: ParkedSlot) -> Bool { marks[Place(slot)] != nil }

  /// Whether a row of a slot of another store is here too.
  func contains(_ row: [SQLValue], of slot: ParkedSlot) -> Bool {
    marks[Place(slot)]?.contains(Mark(row, of: slot, includingValue: includesValues)) == true
  }

  /// The first part that another store lacks, or has with other values: "2 of the values of Item.color, parked for '2',
  /// such as that of row 7"; nil if it has everything.
  func firstLoss(in other: ParkedMarks) -> String? {
    for place in places {
      let lost = (marks[place] ?? []).subtracting(other.marks[place] ?? [])
      guard let first = lost.map(\.key).min() else { continue }
      return Self.words(lost.count, of: place, first: first)
    }
    return nil
  }

  /// A number of rows of a slot in words: "2 of the values of Item.color, parked for '2', such as that of row 7".
  ///
  /// - Parameter key: The key of the first object.
  static func words(_ count: Int, of slot: ParkedSlot, first key: Int64) -> String {
    words(count, of: Place(slot), first: key)
  }

  private static func words(_ count: Int, of place: Place, first key: Int64) -> String {
    "\(count) of the \(place.kind.contents) of \(place.name), parked for \(ModelVersion.quoted(place.version)), "
      + "such as that of row \(key)"
  }
}
