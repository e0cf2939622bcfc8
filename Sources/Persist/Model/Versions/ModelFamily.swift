public import Foundation

/// The versions of one model: the contents of an `.xcdatamodeld` or a `.momd`.
///
/// The current version is read with the family, the others on demand.
public struct ModelFamily: Sendable {
  /// The model's name without a version: the folder name without extension.
  public let name: String
  /// The location of the versions; nil if they don't share one.
  public let url: URL?
  /// The version that objects are created with and stores are migrated to.
  public let current: ModelVersion
  /// The name of the version that is current according to the files. It differs from that of ``current`` if it can't be
  /// read and a family without it was accepted.
  package let currentName: String
  let contents: FamilyVersions

  /// - Parameters:
  ///   - name: the name of the family.
  ///   - versions: at least one, in any order.
  ///   - current: the name of the current version; nil for the newest.
  ///   - url: the file or folder that the versions were read from; nil for a family in code.
  public init(_ name: String, versions: [ModelVersion], current: String? = nil, url: URL? = nil) {
    self.init(
      name, FamilyVersions(versions.map { VersionFile($0) }, family: name, isOrdered: false), current: current,
      url: url)
  }

  /// - Parameter versions: from the oldest to the newest; at least one.
  init(_ name: String, ordered versions: [ModelVersion], current: String?, url: URL?) {
    self.init(
      name, FamilyVersions(versions.map { VersionFile($0) }, family: name, isOrdered: true), current: current, url: url)
  }

  /// Creates a family whose versions have all been read.
  private init(_ name: String, _ contents: FamilyVersions, current: String?, url: URL?) {
    guard let newest = contents.all.versions.last else {
      preconditionFailure("A family of models has at least one version.")
    }
    let wanted = contents.currentFile(named: current)?.name
    self.init(name, contents, current: contents.all.versions.first { $0.name == wanted } ?? newest, url: url)
  }

  /// - Parameters:
  ///   - current: one of `contents`.
  ///   - currentName: the name of the current version; nil for that of `current`.
  init(_ name: String, _ contents: FamilyVersions, current: ModelVersion, currentName: String? = nil, url: URL?) {
    self.name = name
    self.url = url
    self.current = current
    self.currentName = currentName ?? current.name
    self.contents = contents
  }

  /// The readable versions, from the oldest to the newest; at least one.
  ///
  /// Files don't contain their age. Numeric version identifiers determine the order if all versions have distinct ones.
  /// Otherwise the version named like the family is the first, as created by Xcode; the others follow in the order of
  /// the numbers in their names, and after the source versions of mapping models that lead to them. No migration is
  /// refused because of this order.
  ///
  /// - Complexity: the first call reads every version.
  public var versions: [ModelVersion] { contents.all.versions }

  /// The names of all versions, readable or not, without reading them.
  public var versionNames: [String] { contents.files.map(\.name) }

  /// The reasons why versions can't be read.
  ///
  /// - Complexity: the first call reads every version.
  public var problems: [PersistenceError] { contents.all.problems }

  /// Returns the version with a name, otherwise the newest with that version identifier; nil also if it can't be read.
  public func version(named name: String) -> ModelVersion? {
    if let file = contents.files.first(where: { $0.name == name }) { return try? file.version() }
    return versions.last { $0.isCalled(name) }
  }

  /// Whether this exact version instance belongs to the family.
  package func contains(_ version: ModelVersion) -> Bool { contents.version(with: version.model) != nil }

  /// Returns the versions between two of the family, in the direction from the first to the second, and whether their
  /// order is certain: names may be numbered arbitrarily.
  package func versions(
    between first: ModelVersion, and second: ModelVersion
  ) -> (versions: [ModelVersion], isCertain: Bool) {
    let all = contents.all
    func place(_ version: ModelVersion) -> Int? { all.versions.firstIndex { $0.model === version.model } }
    guard let start = place(first), let end = place(second) else { return ([], false) }
    let between = all.order.between(start, end).map { all.versions[$0] }
    return (between, all.order.evidence != .names)
  }

  /// Whether a version of the family was created before another one; nil if there is no evidence.
  package func precedes(_ first: ModelVersion, _ second: ModelVersion) -> Bool? {
    let all = contents.all
    func place(_ version: ModelVersion) -> Int? { all.versions.firstIndex { $0.model === version.model } }
    guard let start = place(first), let end = place(second) else { return nil }
    return all.order.precedes(start, end)
  }

  /// Returns the family with a version added as the newest and current one; a version with the same name is replaced in
  /// place.
  func adding(_ version: ModelVersion) -> ModelFamily {
    let contents = contents.adding(version)
    guard versionNames.contains(version.name) else { return ModelFamily(name, contents, current: version, url: url) }
    let isCurrent = [current.name, currentName].contains(version.name)
    return ModelFamily(
      name, contents, current: isCurrent ? version : current, currentName: currentName, url: url)
  }

  /// Returns the family, also ordered by the source and destination versions of mapping models.
  func ordered(by mappingModels: [MappingModelFile]) -> ModelFamily {
    let steps = mappingModels.compactMap { step -> (from: String, to: String)? in
      guard step.familyName == nil || step.familyName == name, let source = step.sourceVersion,
        let destination = step.destinationVersion
      else { return nil }
      return (source, destination)
    }
    guard !steps.isEmpty else { return self }
    return ModelFamily(
      name, FamilyVersions(contents.files, family: name, isOrdered: false, steps: steps), current: current,
      currentName: currentName, url: url)
  }
}
