public import Foundation

extension ModelRegistry {
  /// Finds every version of every model, and every mapping model; reads the current versions.
  ///
  /// Other versions are read when they are needed: for a store whose version isn't the current one, or on access to
  /// ``versions`` or ``problems``. A version that can't be read is an error only if it may be needed.
  ///
  /// - Parameter url: an `.xcdatamodeld`, `.xcdatamodel` or its `contents`, `.momd`, `.mom`, a Persist model `.json`;
  ///   or a folder, which is searched for all of these, including subfolders. The source and the compiled form of a
  ///   model are combined into one family, which then also has Core Data's hashes.
  /// - Throws: the reason why the current version of a model named by `url` can't be read. In a searched folder, a
  ///   family whose current version can't be read is added to ``problems`` instead; its error, or
  ///   ``PersistenceError/Code/modelNotFound``, is thrown only if no family is left.
  public convenience init(contentsOf url: URL) throws {
    try self.init(contentsOf: url, needsCurrent: true)
  }

  /// - Parameter needsCurrent: false for work that can use another version if the current one can't be read, such as
  ///   identifying a store's version: ``current`` is then the newest readable one, and the error is in ``problems``.
  package convenience init(contentsOf url: URL, needsCurrent: Bool) throws {
    let files = try ModelFiles(at: url)
    let reading = ModelReading(files, needsCurrent: needsCurrent)
    let problems = reading.mappingModelProblems + reading.problems
    guard !reading.families.isEmpty, !files.isNamed(url) || problems.isEmpty else {
      throw problems.isEmpty
        ? PersistenceError(
          .modelNotFound, at: .file(url), "No model was found in '\(url.lastPathComponent)'.",
          fix: "Specify an .xcdatamodeld, .xcdatamodel, .momd, .mom, Persist model .json, or a folder with one in it.")
        : PersistenceError.combining(
          problems, as: .modelNotFound, "\(problems.count) model files can't be read.")
    }
    self.init(
      families: reading.families, mappingModels: reading.mappingModels,
      mappingModelProblems: reading.mappingModelProblems, otherProblems: reading.problems)
  }
}

extension ManagedObjectModel {
  /// Checks and resolves a model that was read from a file, and adds the file to errors.
  ///
  /// A file in Persist's own format is written by people and must have no flaws.
  convenience init(_ model: ParsedModel, file: URL) throws {
    do {
      if file.pathExtension.lowercased() == "json" {
        try self.init(model.description)
      } else {
        try self.init(model)
      }
    } catch var error as PersistenceError {
      error.place.file = error.place.file ?? file
      for index in error.errors.indices { error.errors[index].place.file = file }
      throw error
    }
  }

  /// Reads one model file: an `.xcdatamodel` or its `contents`, a `.mom`, or a Persist model `.json`; for an
  /// `.xcdatamodeld` or a `.momd`, its current version.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` and similar errors if it can't be read, and
  ///   ``PersistenceError/Code/invalidModel`` if the model isn't valid. A model in one of Apple's formats is rejected
  ///   only if it can't be resolved; its other problems are ``flaws``.
  public convenience init(contentsOf url: URL) throws {
    let file = try ModelFamilyFiles.modelFile(at: url)
    try self.init(ModelFamilyFiles.model(at: file), file: file)
  }
}

extension ModelFiles {
  /// Whether the URL itself was found, as opposed to being a searched folder.
  fileprivate func isNamed(_ url: URL) -> Bool {
    (sourceFamilies + compiledFamilies + single + mappingModels).contains { $0.path == url.path }
      || url.lastPathComponent == "contents"
  }
}

/// Combines related files that were found, and reads the current versions.
private struct ModelReading {
  private(set) var families: [ModelFamily] = []
  private(set) var mappingModels: [MappingModelFile] = []
  /// The errors of mapping models, and of other files.
  private(set) var mappingModelProblems: [PersistenceError] = []
  private(set) var problems: [PersistenceError] = []

  init(_ files: ModelFiles, needsCurrent: Bool) {
    mappingModels = files.mappingModels.compactMap { url in attempt { try MappingModelFile(at: url) } }
    mappingModelProblems = problems
    problems = []
    // Sources come first: they contain more than their compiled forms.
    let found =
      files.sourceFamilies.compactMap { url in attempt { try ModelFamilyFiles.source(at: url) } }
      + ModelFamilyFiles.single(files.single + files.undecided.filter(ModelFiles.isModel))
      + files.compiledFamilies.compactMap { url in attempt { try ModelFamilyFiles.compiled(at: url) } }
    var merged: [ModelFamilyFiles] = []
    for family in found where !merged.indices.contains(where: { merged[$0].merge(family) }) { merged.append(family) }
    let steps = mappingModels
    families = merged.compactMap { family in
      attempt { try family.family(steps, needsCurrent: needsCurrent) }.flatMap { $0 }
    }
  }

  private mutating func attempt<Value>(_ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch let error as PersistenceError {
      problems.append(error)
    } catch {
      problems.append(PersistenceError(.fileAccess, error.localizedDescription))
    }
    return nil
  }
}
