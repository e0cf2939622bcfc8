public import Foundation

extension MappingModel {
  /// Reads a complete mapping model: an `.xcmappingmodel` or a compiled `.cdm`.
  ///
  /// Xcode's source format omits what the models imply; it is filled in as Xcode's compiler does.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` and similar errors, with file and place.
  public init(contentsOf url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel) throws {
    if url.pathExtension.lowercased() == "cdm" {
      self = try MappingArchiveReader(url).mappingModel()
    } else {
      self = try XMLMappingReader(url, from: source, to: destination).mappingModel()
    }
  }
}

extension ModelRegistry {
  /// Reads the mapping models found for the hop between two versions, in name order. Several mapping models are parts
  /// of one hop, which run in sequence. If one exists as source and compiled, the source is read.
  ///
  /// - Throws: the errors of ``MappingModel/init(contentsOf:from:to:)``.
  public func readMappingModels(from source: ModelVersion, to destination: ModelVersion) throws -> [MappingModel] {
    var files: [String: MappingModelFile] = Dictionary()
    for file in mappingModels(from: source, to: destination) {
      if files[file.name] == nil || file.url.pathExtension == "xcmappingmodel" { files[file.name] = file }
    }
    return try files.values
      .ordered { NaturalOrder.precedes($0.name, $1.name) }
      .map { file in
        var model = try MappingModel(contentsOf: file.url, from: source.model, to: destination.model)
        model.sourceVersion = source.name
        model.destinationVersion = destination.name
        return model
      }
  }
}
