import Persist
import Synchronization

/// The driver with which stores on servers are opened: libpq's, unless a test installs another one.
package enum ServerDrivers {
  private static let installed = Mutex<any ServerDriver>(LibPQDriver())

  /// Installs a driver for the whole program, in place of the present one.
  package static func install(_ driver: any ServerDriver) { installed.withLock { $0 = driver } }

  /// The driver for new connections.
  package static var current: any ServerDriver { installed.withLock { $0 } }
}
