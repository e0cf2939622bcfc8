import Foundation

/// Reading and writing many attached entries, without a copy of each.
extension SQLiteConnection {
  private static let entriesOn = PreparedSQL(.attachedEntriesOn)

  /// The statements that write 1, 2, 4 … entries.
  private static let writing = {
    var all: [PreparedSQL] = []
    var count = 1
    while count <= SharedSQL.greatestAttachedGroup {
      let size = count
      all.append(PreparedSQL(.setAttachedEntries(count: size)))
      count *= 2
    }
    return all
  }()

  /// The statements that look up entries, by the number of these.
  private static let lookups = [1, 8, 64].map { (count: $0, sql: PreparedSQL(.attachedContents(count: $0))) }

  /// The number of other entries that are skipped on the way to the next key. A new search costs as much as some ten
  /// entries.
  private static let maximumSkips = 8

  /// Reads neighbors with one run of a statement, and looks up the others in groups: a run for each would take half as
  /// much again.
  package func attachedValues(of keys: ByteList) throws -> AttachedValues {
    var values = AttachedValues(count: keys.count)
    try keys.bytes.withUnsafeBytes { bytes in
      func key(_ index: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[keys[index]]) }
      var scattered: [Int] = []
      var index = 0
      while index < keys.count {
        var end = index + 1
        while end < keys.count, key(end).comesSoon(after: key(end - 1)) { end += 1 }
        if end - index > 1 {
          try readNeighbors(index..<end, key, into: &values)
        } else {
          scattered.append(index)
          if scattered.count == Self.lookups.last?.count {
            try lookUp(scattered, key, into: &values)
            scattered.removeAll(keepingCapacity: true)
          }
        }
        index = end
      }
      if !scattered.isEmpty { try lookUp(scattered, key, into: &values) }
    }
    return values
  }

  /// - Parameters:
  ///   - indexes: The indexes of keys between which few others are, or none.
  ///   - key: The key at an index.
  ///   - values: The values that are read.
  private func readNeighbors(
    _ indexes: Range<Int>, _ key: (Int) -> UnsafeRawBufferPointer, into values: inout AttachedValues
  ) throws {
    let statement = try statement(Self.entriesOn)
    defer {
      statement.reset()
      statement.forgetValues()
    }
    var index = indexes.lowerBound
    while index < indexes.upperBound {
      if index > indexes.lowerBound { statement.beginAgain() }
      statement.bindBorrowedBlob(key(index), at: 1)
      var skipped = 0
      while index < indexes.upperBound, skipped <= Self.maximumSkips {
        // There are no more rows.
        guard try statement.step() else { return }
        let name = statement.bytes(0)
        var order = 1
        while index < indexes.upperBound {
          order = key(index).order(beside: name)
          // Keys before the found entry have no entry.
          if order < 0 { index += 1 } else { break }
        }
        if order == 0 {
          values.set(index, to: statement.bytes(1))
          (index, skipped) = (index + 1, 0)
        } else {
          skipped += 1
        }
      }
    }
  }

  /// - Parameters:
  ///   - indexes: The indexes of keys, at most as many as the largest statement has.
  ///   - key: The key at an index.
  ///   - values: The values that are read.
  private func lookUp(
    _ indexes: [Int], _ key: (Int) -> UnsafeRawBufferPointer, into values: inout AttachedValues
  ) throws {
    guard let lookup = Self.lookups.first(where: { $0.count >= indexes.count }) else { return }
    let statement = try statement(lookup.sql)
    defer {
      statement.reset()
      statement.forgetValues()
    }
    for (parameter, index) in indexes.enumerated() { statement.bindBorrowedBlob(key(index), at: Int32(parameter + 1)) }
    while try statement.step() { values.set(indexes[Int(statement.integer(0))], to: statement.bytes(1)) }
  }

  package func setAttached(_ list: AttachedList) throws {
    try list.bytes.withUnsafeBytes { bytes in
      var rest = list.entries[...]
      while !rest.isEmpty {
        var exponent = Self.writing.count - 1
        while 1 << exponent > rest.count { exponent -= 1 }
        let statement = try statement(Self.writing[exponent])
        defer { statement.forgetValues() }
        var index: Int32 = 1
        for entry in rest.prefix(1 << exponent) {
          statement.bindBorrowedBlob(UnsafeRawBufferPointer(rebasing: bytes[entry.key]), at: index)
          statement.bindBorrowedBlob(UnsafeRawBufferPointer(rebasing: bytes[entry.value]), at: index + 1)
          index += 2
        }
        try statement.run()
        rest = rest.dropFirst(1 << exponent)
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a key ends with a number slightly greater than that of another one, as those of neighboring rows do.
  fileprivate func comesSoon(after other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, count > 2 else { return false }
    let rest = count - 2
    guard UnsafeRawBufferPointer(rebasing: self[..<rest]).order(
      beside: UnsafeRawBufferPointer(rebasing: other[..<rest])) == 0
    else { return false }
    func number(_ key: UnsafeRawBufferPointer) -> Int { Int(key[rest]) << 8 | Int(key[rest + 1]) }
    return number(self) - number(other) <= Self.closeDistance
  }

  private static var closeDistance: Int { 8 }
}
