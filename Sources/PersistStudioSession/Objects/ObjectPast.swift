import Foundation
import Persist
import PersistInspection
import PersistTools

/// The changes of one object, the latest first, with the values before and after each as far as they are known.
struct ObjectPast {
  /// A value at some moment.
  enum Value: Hashable {
    case known(StoredValue)
    /// A text for bytes, which aren't kept in memory.
    case bytes(Int)
    /// A later change didn't keep the value that it replaced.
    case unknown
  }

  struct PropertyChange {
    let name: String
    let before: Value
    var after: Value = .unknown
  }

  struct Entry {
    let transaction: HistoryTransaction
    let change: HistoryChange
    /// The changed attributes and to-one relationships; for a deletion the last values.
    var values: [PropertyChange] = []
    let members: [(name: String, change: HistoryMemberChange)]
    /// The changed properties whose values weren't kept; nil if they can't be told.
    let others: [String]?
  }

  private let limit: Int
  private(set) var entries: [Entry] = []
  /// The values after the changes that were followed so far.
  private var current: [String: Value] = [:]

  /// - Parameter limit: The number of transactions that were asked for.
  init(limit: Int) { self.limit = limit }

  /// Whether nothing older is left out.
  var isWhole: Bool { entries.count < limit }
  var keepsValues: Bool { entries.contains { $0.change.oldValues != nil } }

  /// Adds a later transaction.
  mutating func add(_ transaction: HistoryTransaction) {
    for change in transaction.changes ?? [] {
      let kept = change.oldValues ?? change.tombstone ?? [:]
      let members = (change.memberChanges ?? [:]).sorted { $0.key < $1.key }.filter {
        !$0.value.added.isEmpty || !$0.value.removed.isEmpty
      }
      let named = Set(kept.keys).union(members.map(\.key))
      entries.insert(
        Entry(
          transaction: transaction, change: change,
          values: kept.sorted { $0.key < $1.key }.map { PropertyChange(name: $0.key, before: Self.value($0.value)) },
          members: members.map { (name: $0.key, change: $0.value) },
          others: change.updatedProperties.map { $0.subtracting(named).sorted() }),
        at: 0)
    }
  }

  mutating func setCurrentValues(_ values: [String: Value]) { current = values }

  /// Goes back from the current values, and completes each change by the value after it.
  mutating func follow() {
    for index in entries.indices {
      let change = entries[index].change
      for place in entries[index].values.indices {
        let name = entries[index].values[place].name
        if change.changeType == .update { entries[index].values[place].after = current[name] ?? .unknown }
        current[name] = entries[index].values[place].before
      }
      guard change.changeType == .update else { continue }
      if let others = entries[index].others {
        for name in others { current[name] = .unknown }
      } else {
        for name in current.keys where !entries[index].values.contains(where: { $0.name == name }) {
          current[name] = .unknown
        }
      }
    }
  }

  /// The other objects that the changes mention.
  var objects: Set<ManagedObjectID> {
    var ids: Set<ManagedObjectID> = []
    for entry in entries {
      for member in entry.members { ids.formUnion(member.change.added.union(member.change.removed)) }
      for value in entry.values {
        for case .known(.objectID(let id)) in [value.before, value.after] { ids.insert(id) }
      }
    }
    return ids
  }

  /// The values of attributes and to-one relationships.
  static func values(of object: StoreContents.Object) throws -> [String: Value] {
    var values: [String: Value] = [:]
    for property in object.entity.properties where !property.isTransient {
      if let relationship = property.relationship {
        guard !relationship.isToMany else { continue }
        values[property.name] = .known(object.target(of: property).map { .objectID($0) } ?? .null)
      } else if property.attribute != nil, case .value(let value) = try object.value(of: property) {
        values[property.name] = Self.value(value)
      }
    }
    return values
  }

  private static func value(_ value: StoredValue) -> Value {
    if case .data(let data) = value { .bytes(data.count) } else { .known(value) }
  }
}

extension JSONText {
  private static let longestText = 300

  mutating func value(_ entry: ObjectPast.Entry, _ names: [ManagedObjectID: String]) {
    object { json in
      json.field("number", entry.transaction.transactionNumber)
      json.field("date", DateText.iso8601(entry.transaction.timestamp))
      json.field("author", entry.transaction.author)
      json.field("contextName", entry.transaction.contextName)
      json.field("processID", entry.transaction.processID)
      json.field("bundleID", entry.transaction.bundleID)
      json.field("type", String(describing: entry.change.changeType))
      json.field("values", of: entry.values) { json, value in
        json.object { json in
          json.field("property", value.name)
          json.key("before")
          json.past(value.before, names)
          json.key("after")
          json.past(value.after, names)
        }
      }
      json.field("members", of: entry.members) { json, members in
        json.object { json in
          json.field("property", members.name)
          json.field("added", of: Self.sorted(members.change.added)) { $0.link($1, names) }
          json.field("removed", of: Self.sorted(members.change.removed)) { $0.link($1, names) }
        }
      }
      json.key("others")
      if let others = entry.others {
        json.array(of: others) { $0.value($1) }
      } else {
        json.null()
      }
    }
  }

  private static func sorted(_ ids: Set<ManagedObjectID>) -> [ManagedObjectID] {
    ids.sorted { ($0.entityName, $0.primaryKey ?? 0) < ($1.entityName, $1.primaryKey ?? 0) }
  }

  private mutating func past(_ value: ObjectPast.Value, _ names: [ManagedObjectID: String]) {
    object { json in
      switch value {
      case .unknown: json.field("kind", "unknown")
      case .bytes(let count):
        json.field("kind", "bytes")
        json.field("count", count)
      case .known(.null): json.field("kind", "null")
      case .known(.objectID(let id)):
        json.field("kind", "object")
        json.key("object")
        json.link(id, names)
      case .known(let value):
        let text = ValueText.text(value) ?? ""
        json.field("kind", "text")
        json.field("text", text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text)
      }
    }
  }
}
