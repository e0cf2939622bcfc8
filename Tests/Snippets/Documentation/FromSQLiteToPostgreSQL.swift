import Foundation
import Persist
import PersistPostgreSQL

func opened(_ coordinator: PersistentStoreCoordinator, at url: URL) throws {
  // <block 0>
}
