/// The settings of a store's history that its tables don't show.
package struct HistorySettings: Sendable, Equatable {
  /// Whether changes aren't recorded although the store has a history.
  package var isOff = false
  /// The number of the last transaction after which changes may have gone unrecorded, because the history was switched
  /// off or deleted; 0 if there was no such time.
  var completeAfter: Int64 = 0
  /// The last transaction that a purge deleted, and its time: a position that can no longer be looked up.
  var deleted: Deleted?

  /// A deleted transaction.
  struct Deleted: Sendable, Equatable {
    let number: Int64
    let time: Double
  }

  /// The number of the last transaction before the history began to keep old values; nil if it doesn't.
  package var oldValuesAfter: Int64?
  /// The meaning of the history's columns when Persist last opened the store; nil for a history of Core Data's.
  package var description: HistoryDescription?
}

extension StoreMetadata {
  /// The settings of the history. Core Data has none: it records changes if the tables exist.
  package var history: HistorySettings {
    get {
      let values = self.values[Key.history]?.dictionaryValue
      return HistorySettings(
        isOff: values?["isOff"] == .boolean(true), completeAfter: max(0, values?["completeAfter"]?.integerValue ?? 0),
        deleted: values?["deletedUpTo"]?.integerValue.flatMap { number in
          (values?["deletedTime"]?.integerValue).map { time in
            HistorySettings.Deleted(number: number, time: Double(bitPattern: UInt64(bitPattern: time)))
          }
        },
        oldValuesAfter: values?["oldValuesAfter"]?.integerValue,
        description: HistoryDescription(values?["description"]))
    }
    set {
      var values: [String: PropertyList] = Dictionary()
      if newValue.isOff { values["isOff"] = .boolean(true) }
      if newValue.completeAfter > 0 { values["completeAfter"] = .integer(newValue.completeAfter) }
      values["deletedUpTo"] = (newValue.deleted?.number).map(PropertyList.integer)
      values["deletedTime"] = (newValue.deleted?.time).map { .integer(Int64(bitPattern: $0.bitPattern)) }
      values["oldValuesAfter"] = newValue.oldValuesAfter.map(PropertyList.integer)
      values["description"] = newValue.description?.propertyList
      self.values[Key.history] = values.isEmpty ? nil : .dictionary(values)
    }
  }
}
