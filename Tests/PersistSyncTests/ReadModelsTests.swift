import Foundation
import Persist
import Testing

@testable import PersistSync

@Suite("Synchronization: models that were read")
struct ReadModelsTests {
  private func description(_ name: String) -> Data {
    Data(ModelDescription(entities: [EntityDescription(name, attributes: [.init("id", .uuid)])]).json.utf8)
  }

  private func model(_ description: Data, in models: ReadModels) throws -> ManagedObjectModel {
    try models.model(description, digest: Data(SHA256.digest(description)))
  }

  @Test("A description is read once, and again when many others have been read")
  func once() throws {
    let models = ReadModels()
    let first = try model(description("Note"), in: models)
    #expect(first.entities.map(\.name) == ["Note"])
    #expect(try model(description("Note"), in: models) === first)
    for number in 1..<ReadModels.maximumCount {
      #expect(try model(description("Other\(number)"), in: models).entities.map(\.name) == ["Other\(number)"])
    }
    #expect(try model(description("Note"), in: models) === first)
    _ = try model(description("Last"), in: models)
    #expect(try model(description("Note"), in: models) !== first)
  }

  @Test("A description that isn't that of a model is refused each time")
  func malformed() {
    let models = ReadModels()
    for text in ["", "{", "{\"entities\":[{\"name\":\"A\",\"parent\":\"B\"}]}"] {
      for _ in 0..<2 { #expect(throws: PersistenceError.self, "\(text)") { try model(Data(text.utf8), in: models) } }
    }
  }
}
