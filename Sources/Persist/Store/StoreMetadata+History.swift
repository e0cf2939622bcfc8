/// The settings of a store's history that its tables don't show.
struct HistorySettings: Sendable, Hashable {
  /// Whether changes aren't recorded although the store has a history.
  var isOff = false
  /// The number of the last transaction after which changes may have gone unrecorded, because the history was switched
  /// off or deleted; 0 if there was no such time.
  var completeAfter: Int64 = 0
}

extension StoreMetadata {
  /// The settings of the history. Core Data has none: it records changes if the tables exist.
  var history: HistorySettings {
    get {
      let values = self.values[Key.history]?.dictionaryValue
      return HistorySettings(
        isOff: values?["isOff"] == .boolean(true), completeAfter: max(0, values?["completeAfter"]?.integerValue ?? 0))
    }
    set {
      values[Key.history] =
        newValue == HistorySettings()
        ? nil
        : .dictionary(["isOff": .boolean(newValue.isOff), "completeAfter": .integer(newValue.completeAfter)])
    }
  }
}
