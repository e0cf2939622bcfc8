import Foundation
import Persist
import PersistPostgreSQL

func opened(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 0>
}

func validated(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 1>
}

func readingReplicas(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 2>
}

func moved(_ coordinator: PersistentStoreCoordinator, from url: URL) throws {
  // <block 3>
}
