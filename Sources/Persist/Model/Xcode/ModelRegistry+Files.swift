public import Foundation

extension ModelRegistry {
  /// Finds every version of every model, and every mapping model; reads the current versions.
  ///
  /// Other versions are read when they are needed: for a store of another version than the current one, or when
  /// ``versions`` or ``problems`` are asked for. A version that can't be read is an error only where it is needed.
  ///
  /// - Parameter url: an `.xcdatamodeld`, `.xcdatamodel` or its `contents`, `.momd`, `.mom`, a Persist model `.json`;
  ///   or a folder that is searched through all levels for all of these. Where a model is there as source and compiled,
  ///   the two are one family, which then also has Core Data's hashes.
  /// - Throws: why the current version of a model that `url` names can't be read. In a folder that is searched, a
  ///   family whose current version can't be read goes into ``problems`` instead; only where nothing is left is that
  ///   thrown, or ``PersistenceError/Code/modelNotFound``.
  public convenience init(contentsOf url: URL) throws {
    try self.init(contentsOf: url, needsCurrent: true)
  }

  /// - Parameter needsCurrent: false for work that goes on with another version where the current one can't be read,
  ///   such as finding out which version a store has: ``current`` is then the newest that can be read, and the error is
  ///   one of ``problems``.
  package convenience init(contentsOf url: URL, needsCurrent: Bool) throws {
    let files = try ModelFiles(at: url)
    let reading = ModelReading(files, needsCurrent: needsCurrent)
    guard !reading.families.isEmpty, !files.isNamed(url) || reading.problems.isEmpty else {
      throw reading.problems.isEmpty
        ? PersistenceError(
          .modelNotFound, at: .file(url), "No model was found in '\(url.lastPathComponent)'.",
          fix: "Give an .xcdatamodeld, .xcdatamodel, .momd, .mom, a Persist model .json, or a folder with one in it.")
        : PersistenceError.combining(
          reading.problems, as: .modelNotFound, "\(reading.problems.count) model files can't be read.")
    }
    self.init(families: reading.families, mappingModels: reading.mappingModels, problems: reading.problems)
  }
}

extension ManagedObjectModel {
  /// Checks a model that was read from a file, and resolves it; errors then name the file too.
  ///
  /// A file of Persist's own form is written by people and must be right in everything.
  convenience init(_ model: ReadModel, file: URL) throws {
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

  /// Reads one model file: an `.xcdatamodel` or its `contents`, a `.mom`, or a Persist model `.json`.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` and the like where it can't be read, and
  ///   ``PersistenceError/Code/invalidModel`` where the model breaks a rule; of Apple's forms, where it can't be
  ///   resolved, the rest being ``flaws``.
  public convenience init(contentsOf url: URL) throws {
    try self.init(ModelFamilyFiles.model(at: url), file: url)
  }
}

extension ModelFiles {
  /// Whether the URL itself is what was found, not a folder that was searched.
  fileprivate func isNamed(_ url: URL) -> Bool {
    (sourceFamilies + compiledFamilies + single + mappingModels).contains { $0.path == url.path }
      || url.lastPathComponent == "contents"
  }
}

/// Puts together what belongs together of the files that were found, and reads the current versions.
private struct ModelReading {
  private(set) var families: [ModelFamily] = []
  private(set) var mappingModels: [MappingModelFile] = []
  private(set) var problems: [PersistenceError] = []

  init(_ files: ModelFiles, needsCurrent: Bool) {
    // Sources first: they say more than their compiled forms.
    let found =
      files.sourceFamilies.compactMap { url in attempt { try ModelFamilyFiles.source(at: url) } }
      + ModelFamilyFiles.single(files.single + files.undecided.filter(Self.isModel))
      + files.compiledFamilies.compactMap { url in attempt { try ModelFamilyFiles.compiled(at: url) } }
    var merged: [ModelFamilyFiles] = []
    for family in found where !merged.indices.contains(where: { merged[$0].merge(family) }) { merged.append(family) }
    mappingModels = files.mappingModels.compactMap { url in attempt { try MappingModelFile(at: url) } }
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

  /// Whether a JSON file that was come across is a model of Persist, whole or damaged: one begins with a key of models
  /// and has the number of its format.
  private static func isModel(_ url: URL) -> Bool {
    guard let data = try? BoundedFile.data(at: url, limit: JSONReader.byteLimit),
      data.range(of: Data("\"format\"".utf8)) != nil
    else { return false }
    let start = String(decoding: data.prefix(4096), as: UTF8.self).filter { !$0.isWhitespace }
    return start.prefixMatch(of: /\{"(composites|configurations|entities|fetchRequests|format)":/) != nil
  }
}
