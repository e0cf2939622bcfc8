/// Releases objects of a context that are held only by each other.
///
/// An item holds its owner once the program has accessed it, and an owner holds its items: reference counting alone
/// would keep both alive as long as the context. Only an object that both holds others and is held can be part of such
/// a cycle; these *links* are tracked. Whenever there are twice as many as remained last time, one pass over them finds
/// those that nothing else refers to. After a pass that found none, the next one waits for four times as many. A pass
/// therefore costs O(1) per object that became a link, and there are at most three lost objects for each live one.
///
/// A link is in use if something other than links holds it: the program, the context's change sets, an object that
/// isn't held through a relationship. Links reachable from used links are in use too; all others are released.
///
/// Belongs to its context's isolation, like the objects.
final class HeldCycles {
  private typealias Reference = ObjectReferences.Reference

  /// The number of links below which a pass isn't worthwhile.
  private static let fewest = 128

  /// The number of an object's holders is here while it is a link: the object has its index in the same four bytes,
  /// which saves sixteen bytes of each object.
  private struct Link {
    let object: Reference
    var holderCount: Int32
  }

  @exclusivity(unchecked) private var links: ContiguousArray<Link> = []
  @exclusivity(unchecked) private var limit = HeldCycles.fewest
  @exclusivity(unchecked) private var isCollecting = false
  /// Objects that lost their last holder while another one is being released.
  @exclusivity(unchecked) private var waiting: ContiguousArray<Reference> = []
  @exclusivity(unchecked) private var isReleasing = false

  func insert(_ object: ManagedObject) {
    links.append(Link(object: .passUnretained(object), holderCount: object.holderCountOrLink))
    object.becomeLink(at: links.count - 1)
  }

  func remove(_ object: ManagedObject) {
    let index = Int(object.holderCountOrLink)
    object.endLink(holderCount: links[index].holderCount)
    guard let last = links.popLast(), index < links.count else { return }
    links[index] = last
    last.object._withUnsafeGuaranteedRef { $0.becomeLink(at: index) }
  }

  /// The number of holders of a link.
  subscript(link: ManagedObject) -> Int32 {
    get { links[Int(link.holderCountOrLink)].holderCount }
    set { links[Int(link.holderCountOrLink)].holderCount = newValue }
  }

  /// Releases the reference shared by an object's holders. Objects released as a consequence follow afterward, not
  /// nested.
  func release(_ object: ObjectReferences.Reference) {
    guard !isReleasing else { return waiting.append(object) }
    isReleasing = true
    object.release()
    while let next = waiting.popLast() { next.release() }
    isReleasing = false
  }

  /// Whether there are enough new links for a pass.
  @inline(__always)
  var isPassDue: Bool { links.count >= limit }

  /// Releases objects that are held only by each other.
  ///
  /// - Complexity: O(*links and what they hold*)
  func collect() {
    guard !isCollecting, !links.isEmpty else { return }
    isCollecting = true
    defer { isCollecting = false }
    let lost = unusedLinks()
    for object in lost { object.releaseRelated() }
    limit = max(Self.fewest, links.count * (lost.isEmpty ? 4 : 2))
  }

  private func unusedLinks() -> [ManagedObject] {
    links.withUnsafeBufferPointer { links in
      // The number of each link's holders that aren't links.
      var others = ContiguousArray(links.map(\.holderCount))
      others.withUnsafeMutableBufferPointer { others in
        for link in links { Self.forEachLink(heldBy: link.object, of: links) { others[$0] &-= 1 } }
      }
      var isUsed = ContiguousArray(repeating: false, count: links.count)
      var found: ContiguousArray<Int> = []
      isUsed.withUnsafeMutableBufferPointer { isUsed in
        // Everything reachable from a used link is marked before the next link is examined, because examining costs
        // more: an owner usually became a link before its members.
        for index in links.indices where !isUsed[index] && (others[index] > 0 || Self.isRetained(links[index].object)) {
          isUsed[index] = true
          found.append(index)
          while let index = found.popLast() {
            Self.forEachLink(heldBy: links[index].object, of: links) { target in
              guard !isUsed[target] else { return }
              isUsed[target] = true
              found.append(target)
            }
          }
        }
      }
      return links.indices.filter { !isUsed[$0] }.map { links[$0].object.takeUnretainedValue() }
    }
  }

  /// Calls a closure with the index of each link that an object holds.
  @inline(__always)
  private static func forEachLink(
    heldBy holder: Reference, of links: UnsafeBufferPointer<Link>, _ body: (Int) -> Void
  ) {
    @inline(__always)
    func look(at held: Reference) {
      let (isLink, index) = held._withUnsafeGuaranteedRef { ($0.marks.contains(.link), Int($0.holderCountOrLink)) }
      // The index may belong to another context that the object has moved to.
      if isLink, index < links.count, links[index].object.toOpaque() == held.toOpaque() { body(index) }
    }
    holder._withUnsafeGuaranteedRef { holder in
      if let end = holder.heldEnd { look(at: end) }
      if let related = holder.related { related.forEach(look) }
    }
  }

  /// Whether an object is retained by anything other than its holders.
  private static func isRetained(_ object: Reference) -> Bool {
    // Takes over the single reference shared by the holders, so that any other one makes the object not uniquely
    // referenced.
    var shared = object.takeRetainedValue()
    defer { _ = Unmanaged.passRetained(shared) }
    return !isKnownUniquelyReferenced(&shared)
  }
}
