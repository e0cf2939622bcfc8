import Foundation
import Persist
import PersistTools

func planned(_ url: URL, _ registry: ModelRegistry) throws {
  // <block 0>
}

func proven(_ url: URL, _ version: ModelVersion, _ registry: ModelRegistry) throws {
  // <block 1>
}

func watched(_ coordinator: PersistentStoreCoordinator, _ url: URL) throws {
  // <block 2>
  _ = progress
}

func show(_ fraction: Double, _ pass: MigrationProgress.Pass, _ entity: String?, _ timeLeft: Duration?) {}

func followed(_ url: URL, _ registry: ModelRegistry) async throws {
  // <block 3>
}

func nextIdleMoment() async {}

func deferred(_ coordinator: PersistentStoreCoordinator, _ url: URL) async throws {
  // <block 4>
}

func converted(_ coordinator: PersistentStoreCoordinator, _ url: URL) throws {
  // <block 5>
}

func remembered(_ url: URL) throws {
  // <block 6>
}
