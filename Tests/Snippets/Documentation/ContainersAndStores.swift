import Foundation
import Persist

@MainActor func named() async throws {
  // <block 0>
  _ = items
}

func described(_ container: PersistentContainer, folder: URL, priceList: URL) {
  // <block 1>
}

func moved(_ coordinator: PersistentStoreCoordinator, memory: StoreInfo, url: URL) throws {
  // <block 2>
  _ = file
}
