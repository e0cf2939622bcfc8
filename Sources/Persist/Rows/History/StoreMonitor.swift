/// A running observation of a store's changes by anyone.
package protocol StoreMonitor: Sendable {
  /// Ends the observation, after waiting for a running report, unless it is called from one.
  func end()
}
