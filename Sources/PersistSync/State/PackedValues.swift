import Foundation
import Persist

/// The packed facts in the entry of a row, as far as changes of values need them.
///
/// Unlike ``PackedFacts``, it copies nothing: the places are among the bytes from which it was read, and what doesn't
/// change is written as it was. It is meant to be read for one object after another, which use the same memory.
struct PackedValues {
  /// A value or an owner.
  struct Fact {
    /// The number of its ``FactHead``.
    var head: Int
    var life: UInt32
    var otherLife: UInt32
    var stamp: Stamp
    /// The written parts: the stamp is missing if it is that of the fact before.
    var parts: PackedFacts.FactParts
    /// All of the fact.
    var whole: Range<Int>
    /// The part after the stamp.
    var rest: Range<Int>
    var content: Range<Int>
  }

  /// A changed or new value, whose content is among other bytes.
  struct Change {
    /// The place of the fact that it replaces; nil for a new one.
    var place: Int?
    var head: Int
    var stamp: Stamp
    var content: Range<Int>
  }

  /// The identity of the object.
  private(set) var identity = 0..<0
  private(set) var parts = PackedFacts.Parts()
  /// The parts of the object's row: see ``SyncTables/RowID``.
  private(set) var row: (root: Range<Int>, entity: Range<Int>, key: Int64)?
  /// The count of the life, and the number of its head; nil for none.
  private(set) var life: (count: UInt32, head: Int)?
  private(set) var facts: [Fact] = []
  private var all = 0..<0

  /// Reads the entry of a row.
  ///
  /// - Parameter range: The part of the bytes.
  /// - Returns: False if the entry is that of several objects.
  mutating func read(_ bytes: [UInt8], _ range: Range<Int>) throws -> Bool {
    var reader = ByteReader(bytes, range)
    guard try RowEntry.beginsAlone(&reader) else { return false }
    all = range
    identity = try reader.countedRange(upTo: SyncFormat.maximumNameSize)
    parts = PackedFacts.Parts(rawValue: try reader.byte())
    (row, life) = (nil, nil)
    if parts.contains(.row) {
      row = (try reader.countedRange(), try reader.countedRange(), Int64(bitPattern: try reader.number()))
    }
    if parts.contains(.uniqueKeys) {
      for _ in 0..<(try reader.count(upTo: reader.remainingCount)) { _ = try reader.countedRange() }
    }
    if parts.contains(.life) {
      let count = UInt32(try reader.count(upTo: Int(SyncFormat.maximumLife)))
      life = (count, try reader.count(upTo: FactHeads.maximumCount))
    }
    facts.removeAll(keepingCapacity: true)
    var last = Stamp(time: 0, replica: Stamp.origin)
    while !reader.isAtEnd {
      let start = reader.position
      let head = try reader.count(upTo: FactHeads.maximumCount)
      let parts = PackedFacts.FactParts(rawValue: try reader.byte())
      if parts.contains(.stamp) { last = Stamp(time: try reader.fixed64(), replica: try reader.uuid()) }
      let rest = reader.position
      let life = parts.contains(.life) ? UInt32(clamping: try reader.number()) : self.life?.count ?? 0
      let otherLife = parts.contains(.otherLife) ? UInt32(clamping: try reader.number()) : 0
      let content = try reader.countedRange()
      facts.append(
        Fact(
          head: head, life: life, otherLife: otherLife, stamp: last, parts: parts, whole: start..<reader.position,
          rest: rest..<reader.position, content: content))
    }
    return true
  }

  /// The identity after the count of its bytes.
  var countedIdentity: Range<Int> { all.lowerBound + 1..<identity.upperBound }

  /// Whether the row is one of a table.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that were read.
  ///   - id: The row.
  func isRow(_ id: SyncTables.RowID, in bytes: [UInt8]) -> Bool {
    guard let row, row.key == id.key else { return false }
    return bytes.hasText(id.root, at: row.root)
  }

  /// Writes the entry with changed values of the object's present life.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that were read.
  ///   - changes: The changes, each of another value.
  ///   - contents: The bytes that contain their contents.
  func write(
    _ bytes: [UInt8], with changes: [Change], contents: [UInt8], to writer: inout ByteWriter
  ) {
    var copied = all.lowerBound
    var last = Stamp(time: 0, replica: Stamp.origin)
    var isReplaced = false
    for (place, fact) in facts.enumerated() {
      if let change = changes.first(where: { $0.place == place }) {
        writer.raw(bytes[copied..<fact.whole.lowerBound])
        write(change, after: last, contents, &writer)
        (copied, last, isReplaced) = (fact.whole.upperBound, change.stamp, true)
        continue
      }
      // Its stamp was that of a fact that has been replaced.
      if isReplaced, !fact.parts.contains(.stamp), fact.stamp != last {
        writer.raw(bytes[copied..<fact.whole.lowerBound])
        writer.number(UInt64(fact.head))
        writer.byte(fact.parts.union(.stamp).rawValue)
        writer.stamp(fact.stamp)
        copied = fact.rest.lowerBound
      }
      (last, isReplaced) = (fact.stamp, false)
    }
    writer.raw(bytes[copied..<all.upperBound])
    for change in changes where change.place == nil {
      write(change, after: last, contents, &writer)
      last = change.stamp
    }
  }

  private func write(_ change: Change, after last: Stamp, _ contents: [UInt8], _ writer: inout ByteWriter) {
    let parts: PackedFacts.FactParts = change.stamp == last ? [] : .stamp
    writer.number(UInt64(change.head))
    writer.byte(parts.rawValue)
    if parts.contains(.stamp) { writer.stamp(change.stamp) }
    writer.counted(contents[change.content])
  }
}

extension PackedValues.Fact {
  /// Whether the fact is later than another one of the same bytes: see ``Register/isLater(_:than:)``.
  func isLater(than other: Self, _ bytes: [UInt8]) -> Bool {
    let order = order(beside: other.stamp, other.content, of: bytes, bytes)
    return order == 0 ? (life, otherLife) > (other.life, other.otherLife) : order > 0
  }

  /// The order of the fact beside another one of the same lives: negative if the other one holds.
  ///
  /// - Parameters:
  ///   - others: The bytes that contain the other one's content.
  ///   - bytes: Those that contain its own content.
  func order(beside other: Stamp, _ otherContent: Range<Int>, of others: [UInt8], _ bytes: [UInt8]) -> Int {
    if stamp != other { return stamp < other ? -1 : 1 }
    return bytes.order(content, beside: others, otherContent)
  }
}

extension ByteWriter {
  mutating func stamp(_ stamp: Stamp) {
    fixed(stamp.time)
    uuid(stamp.replica)
  }
}

extension [UInt8] {
  /// Whether a part is a text.
  func hasText(_ text: String, at range: Range<Int>) -> Bool {
    range.count == text.utf8.count && self[range].elementsEqual(text.utf8)
  }

  /// Whether a part is equal to a part of other bytes.
  func isEqual(_ range: Range<Int>, to others: [UInt8], _ other: Range<Int>) -> Bool {
    range.count == other.count && order(range, beside: others, other) == 0
  }

  /// The order of a part beside a part of other bytes: negative before it, positive after it.
  func order(_ range: Range<Int>, beside others: [UInt8], _ other: Range<Int>) -> Int {
    withUnsafeBytes { bytes in
      others.withUnsafeBytes { others in
        UnsafeRawBufferPointer(rebasing: bytes[range]).order(
          beside: UnsafeRawBufferPointer(rebasing: others[other]))
      }
    }
  }
}
