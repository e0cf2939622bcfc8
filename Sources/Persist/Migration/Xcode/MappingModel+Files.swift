public import Foundation

extension MappingModel {
  /// Reads a whole mapping model: an `.xcmappingmodel` or a compiled `.cdm`.
  ///
  /// Xcode's source form leaves out what follows from the models; they fill it in as Xcode's compiler does.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` and the like, with file and place.
  public init(contentsOf url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel) throws {
    if url.pathExtension.lowercased() == "cdm" {
      self = try MappingArchiveReader(url).mappingModel()
    } else {
      self = try XMLMappingReader(url, source, destination).mappingModel()
    }
  }
}

extension ModelRegistry {
  /// Reads the mapping models that were found for the step between two versions, in name order; several are one step
  /// in parts, which run one after the other. Of one that is there as source and compiled, the source is read.
  ///
  /// - Throws: what ``MappingModel/init(contentsOf:from:to:)`` throws.
  public func readMappingModels(from source: ModelVersion, to destination: ModelVersion) throws -> [MappingModel] {
    var files: [String: MappingModelFile] = [:]
    for file in mappingModels(from: source, to: destination) {
      if files[file.name] == nil || file.url.pathExtension == "xcmappingmodel" { files[file.name] = file }
    }
    return try files.values
      .sorted { NaturalOrder.precedes($0.name, $1.name) }
      .map { file in
        var model = try MappingModel(contentsOf: file.url, from: source.model, to: destination.model)
        model.sourceVersion = source.name
        model.destinationVersion = destination.name
        return model
      }
  }
}
