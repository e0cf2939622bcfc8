/// The driver with which stores on servers are opened.
package enum ServerDrivers {
  private static let installed = LockProtected<(any ServerDriver)?>(nil)

  /// Installs a driver for the whole program, in place of an earlier one.
  package static func install(_ driver: any ServerDriver) { installed.withLock { $0 = driver } }

  /// Installs the driver of a product, unless there is one already.
  package static func installIfMissing(_ driver: @autoclosure () -> any ServerDriver) {
    installed.withLock { $0 = $0 ?? driver() }
  }

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if no driver is installed.
  package static var current: any ServerDriver {
    get throws {
      if let driver = installed.withLock({ $0 }) { return driver }
      throw PersistenceError(
        .storeOpenFailed, "This program has no driver for PostgreSQL.",
        fix: "Add the product PersistPostgreSQL to the target, import it, and open the store with "
          + "addStore(.postgreSQL(…)).")
    }
  }
}
