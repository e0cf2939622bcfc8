import ArgumentParser
import Foundation
import Persist
import PersistTools

/// `persist diagram`: a picture of a model.
struct DiagramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diagram", abstract: "Draw a model, or the model of a store, as an SVG picture.",
    discussion: """
      Entities are boxes with their properties; lines are relationships and inheritance. 'persist diff --svg' draws \
      the differences of two versions.
      """)

  @Argument(help: "A model, a folder with one model, or a store.")
  var source: String

  @Option(help: "The version to draw; by default the current one, or the store's.")
  var version: String?

  @Option(help: "A folder of models that contains the store's version; by default, the embedded model is used.")
  var models: String?

  @Option(help: "The file to write.")
  var svg: String

  @OptionGroup(title: "Encrypted stores") var key: KeyArguments

  func run() throws {
    let picture = try ModelPicture(of: drawnVersion())
    try ExportedFile.write(PictureDrawing(picture).svg, to: StoreArgument.file(svg, "A picture"))
  }

  private func drawnVersion() throws -> ModelVersion {
    let url = try StoreArgument.url(source)
    guard !url.isFileURL || DatabaseHeader.mayBeDatabase(url) else {
      let registry = try ModelRegistry(contentsOf: url)
      return try version.map(registry.version(named:)) ?? registry.onlyFamily(of: source).current
    }
    if version != nil { throw ValidationError("--version names a version of a model; a store has one version.") }
    let contents = try StoreContents(readingStoreAt: url, registry: models.map(ModelRegistry.forStores(at:)))
    return ModelVersion(name: contents.versionName ?? StoreArgument.shortName(of: url), model: contents.model)
  }
}
