import Foundation

/// Writes the compact form of a change set, fact by fact, in the order of their keys.
struct ChangeSetWriter {
  private var writer = ByteWriter()
  private let base: UInt64
  private var lastObject = Data()
  private var lastRest = Data()

  static let magic = Data("PSYN".utf8)

  /// - Parameters:
  ///   - replicas: Those that made the changes.
  ///   - base: The latest time of the facts.
  ///   - heads: The heads of keys; an empty one for facts that belong to no object.
  ///   - count: The number of facts.
  init(_ entry: SyncEntry, by replicas: [UUID], upTo base: UInt64, heads: [Data], count: Int) {
    self.base = base
    writer.raw(Self.magic)
    writer.byte(SyncFormat.version)
    writer.uuid(entry.replica)
    writer.number(UInt64(bitPattern: entry.number))
    writer.number(UInt64(replicas.count))
    for replica in replicas { writer.uuid(replica) }
    writer.fixed(base)
    writer.number(UInt64(heads.count))
    for head in heads { writer.counted(head) }
    writer.number(UInt64(count))
  }

  /// Writes the key of the next fact.
  ///
  /// - Parameters:
  ///   - object: The beginning up to the object's identity.
  ///   - head: The place of the head.
  ///   - rest: The part after the head; nil if the kind of fact has none.
  mutating func key(_ object: Data, head: Int, rest: Data? = nil) {
    writer.shared(object, with: lastObject)
    lastObject = object
    writer.number(UInt64(head))
    guard let rest else { return }
    writer.shared(rest, with: lastRest)
    lastRest = rest
  }

  /// Writes the key of the next fact without a rest.
  ///
  /// - Parameters:
  ///   - names: The bytes that contain the beginnings of keys.
  ///   - object: The beginning up to the object's identity.
  ///   - last: That of the key before.
  ///   - head: The place of the head.
  mutating func key(_ names: [UInt8], _ object: Range<Int>, after last: Range<Int>, head: Int) {
    var shared = 0
    let end = min(object.count, last.count)
    if object == last {
      shared = end
    } else {
      while shared < end, names[object.lowerBound + shared] == names[last.lowerBound + shared] { shared += 1 }
    }
    writer.number(UInt64(shared))
    writer.counted(names[(object.lowerBound + shared)..<object.upperBound])
    writer.number(UInt64(head))
  }

  /// Writes the value of a fact that is no register.
  mutating func value(_ value: Data) { writer.counted(value) }

  /// Writes a register without its content, which follows.
  ///
  /// - Parameter replica: The place of the replica.
  mutating func register(life: UInt32, otherLife: UInt32, time: UInt64, replica: Int) {
    writer.number(UInt64(life))
    writer.number(UInt64(otherLife))
    writer.number(base - time)
    writer.number(UInt64(replica))
  }

  mutating func content(_ content: Data) { writer.counted(content) }
  mutating func content(_ content: ArraySlice<UInt8>) { writer.counted(content) }

  /// The bytes of the change set with all facts.
  var data: Data { writer.data + ChangeSet.checksum(writer.bytes) }
}

/// The replicas that made the changes of a set, in the order of their first one.
struct ReplicaPlaces {
  private(set) var all: [UUID] = []
  private var places: [UUID: Int] = [:]
  private var last: (replica: UUID, place: Int)?

  /// The place of a replica, which is added if it is new.
  mutating func place(of replica: UUID) -> Int {
    if let last, last.replica == replica { return last.place }
    let place = places[replica] ?? all.count
    if place == all.count {
      places[replica] = place
      all.append(replica)
    }
    last = (replica, place)
    return place
  }
}
