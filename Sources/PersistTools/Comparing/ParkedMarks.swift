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
  }

  private struct Mark: Hashable {
    let key: Int64
    /// The member of a pair.
    let member: Int64
    /// A hash of the value, or of the positions of a pair.
    let value: Int
  }

  private var marks: [Place: Set<Mark>] = [:]
  private var places: [Place] = []

  /// - Parameter includesValues: False for stores of different engines, which represent equal values differently.
  init(_ inspector: any StoreInspector, includingValues includesValues: Bool = true) throws {
    guard try inspector.catalog().canHaveParkedValues else { return }
    for slot in try inspector.parkedSlots() {
      let place = Place(
        kind: slot.kind, name: slot.keyPath.map { "\(slot.entity).\($0)" } ?? slot.entity, version: slot.version,
        model: slot.model)
      if marks[place] == nil { places.append(place) }
      var own = marks.removeValue(forKey: place) ?? []
      let isPair = slot.kind == .relationship
      try inspector.forEachParkedRow(of: slot, ParkedTypes(value: nil, standIn: nil)) { row in
        // Stand-ins are values of the objects, which are compared with those.
        let value = isPair ? Array(row[2..<4]) : [row[1]]
        own.insert(
          Mark(
            key: Self.number(row[0]), member: isPair ? Self.number(row[1]) : 0,
            value: includesValues ? Self.hash(value) : 0))
      }
      marks[place] = own
    }
  }

  private static func hash(_ values: [SQLValue]) -> Int {
    var hasher = Hasher()
    for value in values {
      hasher.combine(value)
      // Data hashes its first bytes only.
      if case .blob(let data) = value { data.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
    return hasher.finalize()
  }

  private static func number(_ value: SQLValue) -> Int64 {
    if case .integer(let number) = value { number } else { 0 }
  }

  /// The first part that another store lacks, or has with other values: "2 of the values of Item.color, parked for '2',
  /// such as that of row 7"; nil if it has everything.
  func firstLoss(in other: ParkedMarks) -> String? {
    for place in places {
      let lost = (marks[place] ?? []).subtracting(other.marks[place] ?? [])
      guard let first = lost.map(\.key).min() else { continue }
      return "\(lost.count) of the \(place.kind.contents) of \(place.name), parked for "
        + "\(ModelVersion.quoted(place.version)), such as that of row \(first)"
    }
    return nil
  }
}
