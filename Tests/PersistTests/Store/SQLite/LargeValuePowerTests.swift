import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Large values after a power failure", .aboutFilesOfLargeValues)
struct LargeValuePowerTests {
  @Test("Whenever power fails during a save that replaces a large value, the row names an existing file")
  func replaced() throws {
    let scenario = try MigrationScenario(.inPlace)
    try withTemporaryFolder { folder in
      let work = folder.appendingPathComponent("work")
      try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
      let url = work.appendingPathComponent("Store.sqlite")
      try scenario.makeStore(at: url, marks: 3)
      let recorder = CrashRecorder(work)
      try WatchedFiles.watching(work, { recorder.record($0) }) {
        let coordinator = PersistentStoreCoordinator(model: scenario.versions[0].model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for mark in try context.fetch(FetchRequest("Mark", where: "photo != nil")) {
          mark["photo"] = Data(repeating: 99, count: 120_000)
        }
        try context.save()
        recorder.recordEnd()
        try coordinator.remove(store)
      }
      #expect(recorder.images.contains { $0.moment.hasPrefix("without power") })
      for (number, image) in recorder.images.enumerated() {
        let place = folder.appendingPathComponent("image-\(number)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try image.write(to: place)
        var problems: [String] = []
        try checkStore(at: place.appendingPathComponent("Store.sqlite"), registry: scenario.registry) {
          // A file that no row names, not yet or no longer, does no harm.
          if $0.kind != .orphanFile { problems.append("\($0)") }
        }
        #expect(problems == [], "\(image.moment)")
      }
    }
  }
}
