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

  /// The numbers of other entries that are skipped on the way to the next key: after several keys that were neighbors,
  /// and otherwise. A new search costs as much as some ten entries.
  private static let skips = (neighbors: 8, others: 1)

  /// Reads neighbors with one run of the statement, which then begins again at the next key.
  package func attachedValues(of keys: ByteList) throws -> AttachedValues {
    var values = AttachedValues(count: keys.count)
    let statement = try statement(Self.entriesOn)
    defer {
      statement.reset()
      statement.forgetValues()
    }
    try keys.bytes.withUnsafeBytes { bytes in
      var place = 0
      var maximum = Self.skips.neighbors
      while place < keys.count {
        statement.beginAgain()
        statement.bindBorrowedBlob(UnsafeRawBufferPointer(rebasing: bytes[keys[place]]), at: 1)
        var (found, skipped) = (0, 0)
        while place < keys.count, skipped <= maximum {
          // Nothing follows.
          guard try statement.step() else { return }
          let name = statement.bytes(0)
          var order = 1
          while place < keys.count {
            order = UnsafeRawBufferPointer(rebasing: bytes[keys[place]]).order(beside: name)
            // There is no entry with a key that comes before.
            if order < 0 { place += 1 } else { break }
          }
          if order == 0 {
            values.set(place, to: statement.bytes(1))
            (place, found, skipped) = (place + 1, found + 1, 0)
          } else {
            skipped += 1
          }
        }
        maximum = found > 1 ? Self.skips.neighbors : Self.skips.others
      }
    }
    return values
  }

  package func setAttached(_ list: AttachedList) throws {
    try list.bytes.withUnsafeBytes { bytes in
      var rest = list.entries[...]
      while !rest.isEmpty {
        var place = Self.writing.count - 1
        while 1 << place > rest.count { place -= 1 }
        let statement = try statement(Self.writing[place])
        defer { statement.forgetValues() }
        var index: Int32 = 1
        for entry in rest.prefix(1 << place) {
          statement.bindBorrowedBlob(UnsafeRawBufferPointer(rebasing: bytes[entry.key]), at: index)
          statement.bindBorrowedBlob(UnsafeRawBufferPointer(rebasing: bytes[entry.value]), at: index + 1)
          index += 2
        }
        try statement.run()
        rest = rest.dropFirst(1 << place)
      }
    }
  }
}
