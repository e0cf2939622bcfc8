/// A dictionary of few entries that costs little when it is first used.
///
/// When a process creates its first `Dictionary` with keys of a type, Swift's runtime searches the conformances of all
/// libraries for that type's to `Hashable`: half a million instructions, more than a quarter of opening a store with
/// plain SQLite. Here, the compiler knows it. Finding an entry compares the hashes of all, of which there should be at
/// most some hundreds. The entry that was found last is compared first, by its key: programs repeat their requests, and
/// hashing one of them takes a thousand instructions.
struct HashedList<Key, Value> {
  private struct Entry {
    let hash: Int
    let key: Key
    var value: Value
  }

  private var entries: ContiguousArray<Entry> = []
  /// The index of the entry that was found last.
  private var last = 0

  var count: Int { entries.count }
}

extension HashedList where Key: Hashable {
  private func index(of key: Key, _ hash: Int) -> Int? {
    entries.firstIndex { $0.hash == hash && $0.key == key }
  }

  /// The value of a key; nil for none.
  ///
  /// - Complexity: O(n) comparisons of integers.
  subscript(key: Key) -> Value? {
    mutating get {
      if last < entries.count, entries[last].key == key { return entries[last].value }
      guard let index = index(of: key, key.hashValue) else { return nil }
      last = index
      return entries[index].value
    }
    set {
      let hash = key.hashValue
      switch (index(of: key, hash), newValue) {
      case (let index?, let value?): entries[index].value = value
      case (let index?, nil): entries.remove(at: index)
      case (nil, let value?): entries.append(Entry(hash: hash, key: key, value: value))
      case (nil, nil): break
      }
    }
  }
}
