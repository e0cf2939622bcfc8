import Foundation
import Persist

func encrypted(_ coordinator: PersistentStoreCoordinator, url: URL, secretFile: URL) throws {
  // <block 0>
  // <block 1>
}
