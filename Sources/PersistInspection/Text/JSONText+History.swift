import Foundation
package import Persist

extension JSONText {
  /// Writes a transaction in the format of `persist history`.
  package mutating func value(_ transaction: HistoryTransaction, model: ManagedObjectModel) {
    value(transaction) { $0.value($1) }
  }

  /// Writes a transaction with its changes in another format.
  package mutating func value(
    _ transaction: HistoryTransaction, change: (inout JSONText, HistoryChange) -> Void
  ) {
    object { json in
      json.field("number", transaction.transactionNumber)
      json.field("timestamp", transaction.timestamp.timeIntervalSinceReferenceDate)
      json.field("author", transaction.author)
      json.field("contextName", transaction.contextName)
      json.field("bundleID", transaction.bundleID)
      json.field("processID", transaction.processID)
      json.field("changes", of: transaction.changes ?? [], change)
    }
  }

  /// Writes the names of the properties that a change has set; null if they weren't recorded.
  package mutating func updatedProperties(of change: HistoryChange) {
    key("updatedProperties")
    if let names = change.updatedProperties { array(of: names.sorted()) { $0.value($1) } } else { null() }
  }

  private mutating func value(_ change: HistoryChange) {
    object { json in
      json.field("type", change.changeType.name)
      json.field("entity", change.changedObjectID.entityName)
      json.field("pk", change.changedObjectID.primaryKey)
      if change.changeType == .update { json.updatedProperties(of: change) }
      if let tombstone = change.tombstone { json.field("tombstone", tombstone) }
      if let oldValues = change.oldValues { json.field("oldValues", oldValues) }
      if let members = change.memberChanges, !members.isEmpty {
        json.key("memberChanges")
        json.object { json in
          for (name, change) in members.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.object { json in
              json.field("added", change.added)
              json.field("removed", change.removed)
            }
          }
        }
      }
    }
  }

  private mutating func field(_ key: String, _ values: [String: StoredValue]) {
    self.key(key)
    object { json in
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        json.key(name)
        json.value(value)
      }
    }
  }

  private mutating func field(_ key: String, _ members: Set<ManagedObjectID>) {
    self.key(key)
    let sorted = members.sorted { ($0.entityName, $0.primaryKey ?? 0) < ($1.entityName, $1.primaryKey ?? 0) }
    array(of: sorted) { $0.value(StoredValue.objectID($1)) }
  }
}

extension HistoryChangeType {
  /// The word for the kind of change.
  package var name: String {
    switch self {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }
}
