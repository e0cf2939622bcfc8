/// A running observation of a store's changes by anyone.
package protocol StoreMonitor: Sendable {
  /// Ends the observation. Waits for a report in progress, unless called from within it.
  func end()
}
