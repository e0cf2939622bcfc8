/// Lets objects of a context go that only hold each other.
///
/// An item holds its owner once the program has asked for that, and an owner its items: counted references alone would
/// keep both for as long as the context. Only an object that holds others and is held itself can be part of such a
/// cycle; these *links* are counted. Whenever there are twice as many as were left last time, one pass over them finds
/// those that nothing else leads to. So a pass costs O(1) for each object that became a link, and the number of lost
/// objects stays below that of the live ones.
///
/// A link is used where something else than other links holds it: the program, the context's lists of changes, an
/// object that nobody holds through a relationship. Whatever a used link leads to is used too; all else is let go.
///
/// It belongs to its context's isolation, as the objects do.
final class HeldCycles {
  private typealias Reference = ObjectReferences.Reference

  /// Below it no pass is worth its while.
  private static let fewest = 128

  @exclusivity(unchecked) private var links: ContiguousArray<Reference> = []
  @exclusivity(unchecked) private var limit = HeldCycles.fewest
  @exclusivity(unchecked) private var isCollecting = false
  /// Objects that lost their last holder while another one is released.
  @exclusivity(unchecked) private var waiting: ContiguousArray<Reference> = []
  @exclusivity(unchecked) private var isReleasing = false

  func insert(_ object: ManagedObject) {
    object.linkIndex = Int32(truncatingIfNeeded: links.count)
    links.append(.passUnretained(object))
  }

  func remove(_ object: ManagedObject) {
    let index = Int(object.linkIndex)
    object.linkIndex = -1
    guard let last = links.popLast(), index < links.count else { return }
    links[index] = last
    last._withUnsafeGuaranteedRef { $0.linkIndex = Int32(truncatingIfNeeded: index) }
  }

  /// Gives up the reference that an object's holders shared. What its end lets go is released after it, not within.
  func release(_ object: ObjectReferences.Reference) {
    guard !isReleasing else { return waiting.append(object) }
    isReleasing = true
    object.release()
    while let next = waiting.popLast() { next.release() }
    isReleasing = false
  }

  @inline(__always)
  func collectIfDue() {
    if links.count >= limit { collect() }
  }

  /// Lets go of the objects that only hold each other.
  ///
  /// - Complexity: O(*links and what they hold*)
  func collect() {
    guard !isCollecting, !links.isEmpty else { return }
    isCollecting = true
    defer { isCollecting = false }
    let lost = unusedLinks()
    for object in lost { object.letGoOfRelated() }
    limit = max(Self.fewest, links.count * 2)
  }

  private func unusedLinks() -> [ManagedObject] {
    // The number of holders of each link that aren't links.
    var others = ContiguousArray(links.map { $0._withUnsafeGuaranteedRef { $0.holderCount } })
    for link in links { forEachLink(heldBy: link) { others[$0] -= 1 } }
    var isUsed = ContiguousArray(repeating: false, count: links.count)
    var found: ContiguousArray<Int> = []
    for index in links.indices where others[index] > 0 || isRetained(links[index]) {
      isUsed[index] = true
      found.append(index)
    }
    while let index = found.popLast() {
      forEachLink(heldBy: links[index]) { target in
        guard !isUsed[target] else { return }
        isUsed[target] = true
        found.append(target)
      }
    }
    return links.indices.filter { !isUsed[$0] }.map { links[$0].takeUnretainedValue() }
  }

  /// The places of the links that an object holds.
  @inline(__always)
  private func forEachLink(heldBy holder: Reference, _ body: (Int) -> Void) {
    func look(at held: Reference) {
      let index = held._withUnsafeGuaranteedRef { Int($0.linkIndex) }
      // An object that has left for another context may have a place there.
      if index >= 0, index < links.count, links[index].toOpaque() == held.toOpaque() { body(index) }
    }
    holder._withUnsafeGuaranteedRef { holder in
      if let end = holder.heldEnd { look(at: end) }
      holder.related?.forEach(look)
    }
  }

  /// Whether anything else than an object's holders retains it.
  private func isRetained(_ object: Reference) -> Bool {
    // The one reference that the holders share, taken over for the look.
    var shared = object.takeRetainedValue()
    defer { _ = Unmanaged.passRetained(shared) }
    return !isKnownUniquelyReferenced(&shared)
  }
}
