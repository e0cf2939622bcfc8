package import Foundation
package import Persist

/// A copy of a store at another place, in a file or on a server, whose values are compared with the original's before
/// it gets its name.
///
/// The copy has the keys, versions, orders, metadata and identifier of the original. If anything fails, the destination
/// is unchanged.
package struct VerifiedCopy {
  package enum Work: Sendable {
    case copying, comparing
  }

  package struct Outcome: Sendable {
    package var objects = 0
    /// The number of compared values.
    package var values = 0
  }

  private let source: StoreLocation
  private let destination: StoreLocation
  private let registry: ModelRegistry?
  private let replaces: Bool
  private let encryption: StoreEncryption?
  private let progress: (_ work: Work, _ done: Int, _ total: Int) throws -> Void
  /// A file that others write to is copied again, at most this often.
  private static let attempts = 3

  /// - Parameters:
  ///   - source: The URL of a file or a server.
  ///   - destination: The URL of another one.
  ///   - registry: The models of a store that contains none; nil if there are none.
  ///   - replaces: Whether the copy may take the place of a store at the destination.
  ///   - encryption: The encryption of a copy in a file.
  ///   - progress: Called with the number of objects copied or compared. An error that it throws ends the work.
  package init(
    of source: URL, to destination: URL, registry: ModelRegistry? = nil, replacing replaces: Bool = false,
    encryptedLike encryption: StoreEncryption? = StoreEncryption.current,
    progress: @escaping (_ work: Work, _ done: Int, _ total: Int) throws -> Void = { _, _, _ in }
  ) {
    self.source = StoreLocation(source)
    self.destination = StoreLocation(destination)
    self.registry = registry
    self.replaces = replaces
    self.encryption = encryption
    self.progress = progress
  }

  /// Whether there is a store at the destination, or a file.
  package func isDestinationTaken() throws -> Bool {
    try StoreEncryption.using(encryption) { try !destination.engine.canCreateStore(at: destination) }
  }

  /// Copies the store, compares, and gives the copy its name.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if both places are the same, or the destination is in memory;
  ///   ``PersistenceError/Code/fileAccess`` if there is a store at the destination that may not be replaced;
  ///   ``PersistenceError/Code/storeDamaged`` if a value of the copy differs; ``PersistenceError/Code/notAStore`` and
  ///   errors of opening.
  package func run() throws -> Outcome {
    guard source != destination else {
      throw PersistenceError(
        .invalidRequest, at: .store(source.url), "A store can't be copied to its own place.", fix: "Name another one.")
    }
    guard destination != .memory else {
      throw PersistenceError(
        .invalidRequest, at: .store(source.url), "A copy in memory would be gone at once.",
        fix: "Name a file or a server.")
    }
    var attempt = 1
    while true {
      do {
        return try attemptCopy()
      } catch let difference as Differs {
        // Others may have changed the file since it was copied.
        guard difference.mayHaveChanged, attempt < Self.attempts else { throw difference.error }
        attempt += 1
      }
    }
  }

  private struct Differs: Error {
    let error: PersistenceError
    let mayHaveChanged: Bool
  }

  private func attemptCopy() throws -> Outcome {
    var outcome = Outcome()
    let isFileCopy = if case (.file, .file) = (source, destination) { true } else { false }
    var total = 0
    try StoreCopies.withCopy(
      of: source, registry: registry, beside: destination, parked: .copied(by: ParkedTransfer(registry)),
      encryptedLike: encryption,
      reporting: { rows, original in
        if total == 0 { total = try Self.count(original) }
        try progress(.copying, rows, total)
      }
    ) { copy, original in
      guard let url = copy.url else { return }
      if total == 0 { total = try Self.count(original) }
      let contents = StoreContents(original.store, original.identified)
      // A file is copied as it is, possibly without its model.
      let copied = try StoreContents(readingStoreAt: url, registry: isFileCopy ? original.registry : nil)
      let comparison = StoreComparison(contents, copied)
      (outcome.objects, outcome.values) = try comparison.run(reporting: { try progress(.comparing, $0, total) }) {
        Differs(error: failure($0), mayHaveChanged: isFileCopy || !original.isHeld)
      }
      if let error = try parkedDifference(original.store, copy: url) {
        throw Differs(error: error, mayHaveChanged: isFileCopy || !original.isHeld)
      }
      if replaces {
        try destination.engine.replaceStore(at: destination, withCopyAt: copy)
      } else {
        try destination.engine.createStore(at: destination, fromCopyAt: copy)
      }
    }
    return outcome
  }

  private static func count(_ original: CopiedState) throws -> Int {
    try original.store.model.entities.filter { !$0.isAbstract }.reduce(0) {
      try $0 + original.store.count(RowQuery(entity: $1, includesSubentities: false))
    }
  }

  private func failure(_ difference: StoreComparison.Difference) -> PersistenceError {
    var place = difference.place
    place.store = source.url
    return failure(difference.words("in the store", "in the copy"), at: place)
  }

  private func failure(_ difference: String, at place: PersistenceError.Place) -> PersistenceError {
    PersistenceError(
      .storeDamaged, at: place, "The copy differs from the store: \(difference). The destination is unchanged.",
      fix: "If other programs write to the store, try again while they don't. Otherwise look for damage with "
        + "'persist check', and report the difference if there is none.")
  }

  /// The error for parked values that a copy lacks, or has in addition; nil if there are none. Between files and
  /// servers, their keys are compared.
  private func parkedDifference(_ store: any PersistentStore, copy: URL) throws -> PersistenceError? {
    guard let inspectable = store as? any InspectableStore else { return nil }
    let comparesValues = source.url?.isFileURL == copy.isFileURL
    let (originals, own) = try inspectable.inspect {
      (try ParkedContent.all(in: $0), try ParkedMarks($0, includingValues: comparesValues))
    }
    let (copies, others) = try StoreLocation(copy).inspect {
      (try ParkedContent.all(in: $0), try ParkedMarks($0, includingValues: comparesValues))
    }
    func words(_ contents: [ParkedContent]) -> String {
      contents.isEmpty ? "nothing is" : contents.map { "\($0.amount) of \($0.place) are" }.joined(separator: ", ")
    }
    if originals != copies {
      return failure(
        "\(words(originals)) parked in the store, \(words(copies)) parked in the copy", at: .store(source.url))
    }
    let loss = own.firstLoss(in: others) ?? others.firstLoss(in: own)
    return loss.map { failure("they disagree about \($0)", at: .store(source.url)) }
  }
}
