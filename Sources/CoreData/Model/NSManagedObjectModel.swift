public import Foundation
import Persist

// Unchecked: a model is changed only until a coordinator uses it.
/// The entities of an application and their properties.
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private var descriptions: [NSEntityDescription] = [] { didSet { named.withLock { $0 = nil } } }
  private var configurationNames: [String: [String]] = [:]
  private var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
  private var original = ModelDescription()
  private var made: ManagedObjectModel?
  /// The entities by name; nil after a change.
  private let named = Locked<[String: NSEntityDescription]?>(nil)
  /// The versions and mapping models that the model's file contains.
  let registry: ModelRegistry?
  /// Names of the version, for people.
  open var versionIdentifiers: Set<AnyHashable> = []
  /// The name of the bundle that the model's file is in, without extension; nil for models from elsewhere.
  let bundleName: String?
  /// The name of the version's file.
  var versionName: String?
  /// Texts of the application's own.
  open var localizationDictionary: [String: String]?

  /// Returns the checksums of a model file's versions by their names.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open class func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
    try bridging {
      let checksums = try ModelFile.versions(url).flatMap { _, registry in
        (registry?.versions ?? []).map { ($0.name, NSManagedObjectModel($0.model, registry: nil).versionChecksum) }
      }
      return Dictionary(checksums, uniquingKeysWith: { first, _ in first })
    }
  }

  /// Creates a model without entities.
  public override init() { (registry, bundleName) = (nil, nil) }

  /// - Parameter bundleName: The name of the bundle that the model's file is in; nil for models from elsewhere.
  init(_ model: ManagedObjectModel, registry: ModelRegistry?, readFrom bundleName: String? = nil) {
    self.registry = registry
    self.bundleName = bundleName
    super.init()
    adopt(model)
  }

  /// Reads a model from an archive; nil if the archive has none.
  public required convenience init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: "model"),
      let description = try? ModelDescription(json: Data(referencing: data)),
      let model = try? ManagedObjectModel(withFlaws: description)
    else { return nil }
    self.init(model, registry: nil)
  }

  /// True.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the model to an archive. One that can't be used leaves the archive without a model.
  open func encode(with coder: NSCoder) {
    guard let description = try? persistModel().description else { return }
    coder.encode(NSData(data: Data(description.json.utf8)), forKey: "model")
  }

  deinit {
    EntityDescriptions.remove(made?.entities ?? [], of: self)
    EntityDescriptions.close(self)
  }

  /// Reads a model file: `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, or a Persist model.
  public convenience init?(contentsOf url: URL) {
    guard let (model, registry) = try? ModelFile.read(url) else { return nil }
    self.init(model, registry: registry, readFrom: ModelFile.bundleName(of: url))
    versionName = url.deletingPathExtension().lastPathComponent
  }

  /// The entities.
  open var entities: [NSEntityDescription] {
    get { descriptions }
    set {
      for entity in descriptions where entity.managedObjectModel === self { entity.managedObjectModel = nil }
      descriptions = newValue
      for entity in newValue { entity.managedObjectModel = self }
      recordChange()
    }
  }

  /// The entities by name.
  open var entitiesByName: [String: NSEntityDescription] {
    named.withLock { named in
      if let named { return named }
      let entities = Dictionary(descriptions.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
      named = entities
      return entities
    }
  }

  /// The names of the configurations.
  open var configurations: [String] { configurationNames.keys.sorted() }

  /// The entities.
  open func entities(forConfigurationName name: String?) -> [NSEntityDescription]? {
    guard let name else { return descriptions }
    return configurationNames[name].map { names in descriptions.filter { names.contains($0.name ?? "") } }
  }

  /// Sets the entities of a configuration.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName name: String) {
    configurationNames[name] = entities.compactMap(\.name)
    recordChange()
  }

  /// The hashes of the entities, by which stores recognize their model.
  open var entityVersionHashesByName: [String: Data] {
    guard let model = try? persistModel() else { return [:] }
    return Dictionary(model.entities.map { ($0.name, $0.fingerprint.bytes) }, uniquingKeysWith: { first, _ in first })
  }

  /// A text that is equal for models with equal entities. It isn't the checksum that Xcode shows.
  open var versionChecksum: String {
    let hashes = entityVersionHashesByName.sorted { $0.key < $1.key }
    return Data(hashes.flatMap { $0.value.prefix(8) }).base64EncodedString()
  }

  /// The request templates by name.
  open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }

  /// Returns the request template with a name.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? { templates[name] }

  /// Sets or removes a request template.
  open func setFetchRequestTemplate(_ request: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
    templates[name] = request
    recordChange()
  }

  /// Returns a request from a template, with values for its variables.
  open func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let request = templates[name]?.copy() as? NSFetchRequest<any NSFetchRequestResult> else { return nil }
    request.predicate = request.predicate?.withVariables(variables)
    return request
  }

  /// Whether a store with these metadata can be opened with the model.
  open func isConfiguration(
    withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
      let entities = entities(forConfigurationName: name)
    else { return false }
    let own = entityVersionHashesByName
    return hashes.count == entities.count && entities.allSatisfy { entity in
      entity.name.map { hashes[$0] == own[$0] } ?? false
    }
  }

  func recordChange() {
    named.withLock { $0 = nil }
    EntityDescriptions.remove(made?.entities ?? [], of: self)
    made = nil
  }

  /// Returns a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    guard let model = try? persistModel() else { return NSManagedObjectModel() }
    return NSManagedObjectModel(model, registry: registry, readFrom: bundleName)
  }

  open override func isEqual(_ other: Any?) -> Bool {
    guard let other = other as? NSManagedObjectModel else { return false }
    return self === other || entityVersionHashesByName == other.entityVersionHashesByName
  }

  open override var hash: Int { descriptions.count }
}

extension NSManagedObjectModel {
  /// Returns the model that Persist opens stores with.
  func persistModel() throws -> ManagedObjectModel {
    if let made { return made }
    var description = original
    let all = allEntities()
    description.entities = try all.map { try $0.entityDescription() }
    let composites = try all.flatMap { try $0.compositeAttributes.flatMap { try $0.composites() } }
    let names = Set(composites.map(\.name))
    description.composites = description.composites.filter { !names.contains($0.name) } + Self.unique(composites)
    description.configurations = configurationNames
    description.versionIdentifiers = versionIdentifiers.map { "\($0.base)" }.sorted()
    description.fetchRequestTemplates = try templates.mapValues { try $0.requestDescription() }
    let model = try ManagedObjectModel(withFlaws: description)
    join(model)
    return model
  }

  /// The model's entities, with the subentities of those that were set alone.
  private func allEntities() -> [NSEntityDescription] {
    var all = descriptions
    var next = 0
    while next < all.count {
      for entity in all[next].subentities where !all.contains(where: { $0 === entity }) { all.append(entity) }
      next += 1
    }
    if all.count > descriptions.count {
      descriptions = all
      for entity in all { entity.managedObjectModel = self }
    }
    return all
  }

  /// Composite types without those of a name that came before.
  private static func unique(_ composites: [CompositeDescription]) -> [CompositeDescription] {
    var seen: Set<String> = []
    return composites.filter { seen.insert($0.name).inserted }
  }

  /// The class of each entity.
  var classes: [String: ManagedObject.Type] {
    Dictionary(entities.map { ($0.name ?? "", $0.managedObjectClass) }, uniquingKeysWith: { first, _ in first })
  }

  private func adopt(_ model: ManagedObjectModel) {
    original = model.description
    configurationNames = model.description.configurations
    versionIdentifiers = Set(model.versionIdentifiers.map { AnyHashable($0) })
    let entities = model.entities.map { NSEntityDescription(describing: $0.description) }
    let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let composites = Dictionary(
      model.description.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in entities { entity.compositeAttributes.forEach { $0.adopt(composites) } }
    for entity in model.entities {
      byName[entity.name]?.subentities = entity.subentityNames.compactMap { byName[$0] }
    }
    for entity in entities {
      for property in entity.properties { (property as? NSRelationshipDescription)?.connect(in: byName) }
    }
    self.entities = entities
    for (name, request) in model.description.fetchRequestTemplates { templates[name] = NSFetchRequest(request) }
    join(model)
  }

  private func join(_ model: ManagedObjectModel) {
    made = model
    for description in descriptions { description.entity = description.name.flatMap { model.entitiesByName[$0] } }
    EntityDescriptions.add(descriptions)
    ValueTransformer.registerTransformers(of: model)
  }
}

extension NSManagedObjectModel {
  /// Returns the models of bundles, merged: of all loaded bundles without an argument.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    merge(ModelFile.all(in: bundles).compactMap { NSManagedObjectModel(contentsOf: $0) })
  }

  /// Creates a model with the entities of several models, if a store with these metadata can be opened with it.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
    self.init(byMerging: models)
    guard isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else { return nil }
  }

  /// Returns the model that a store with these metadata was written with.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    for file in ModelFile.all(in: bundles) {
      for (model, registry) in (try? ModelFile.versions(file)) ?? [] {
        let model = NSManagedObjectModel(model, registry: registry, readFrom: ModelFile.bundleName(of: file))
        if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return model }
      }
    }
    return nil
  }

  /// Creates a model with the entities of several models.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let merged = Self.merge(models ?? []) else { return nil }
    guard let model = try? merged.persistModel() else { return nil }
    self.init(model, registry: merged.registry)
  }

  private class func merge(_ models: [NSManagedObjectModel]) -> NSManagedObjectModel? {
    if models.count == 1 { return models[0] }
    let merged = models.reduce(into: ModelDescription()) { merged, model in
      guard let description = (try? model.persistModel())?.description else { return }
      for entity in description.entities where !merged.entities.contains(where: { $0.name == entity.name }) {
        merged.entities.append(entity)
      }
      merged.composites += description.composites
      merged.configurations.merge(description.configurations) { $0 + $1 }
      merged.fetchRequestTemplates.merge(description.fetchRequestTemplates) { first, _ in first }
      merged.versionIdentifiers += description.versionIdentifiers
    }
    return (try? ManagedObjectModel(withFlaws: merged)).map { NSManagedObjectModel($0, registry: nil) }
  }
}
