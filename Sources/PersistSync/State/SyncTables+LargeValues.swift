import Foundation
import Persist

/// The parts of large values, with the facts and change sets that name them.
extension SyncTables {
  private static func partKey(_ digest: Data) -> Data { Data([UInt8(ascii: "b")]) + digest }
  private static func userPrefix(_ digest: Data) -> Data { Data([UInt8(ascii: "n")]) + digest }

  /// The content of a fact for a value; large values are stored apart.
  func content(of value: StoredValue) -> Data {
    let bytes = PortableValue.bytes(value)
    guard bytes.count > LargeValue.limits.value else { return bytes }
    let large = LargeValue(of: bytes)
    for (digest, part) in zip(large.digests, LargeValue.parts(of: bytes)) { set(Self.partKey(digest), part) }
    return PortableValue.bytes(large)
  }

  /// The content with a large value itself in the place of its digests, if all parts are there.
  func resolved(_ content: Data) throws -> Data {
    guard let large = PortableValue.large(content) else { return content }
    var bytes = Data()
    for digest in large.digests {
      guard let part = try part(digest) else { return content }
      bytes += part
    }
    return bytes.count == large.size ? bytes : content
  }

  /// A part of a large value; nil if it isn't there.
  func part(_ digest: Data) throws -> Data? { try entry(Self.partKey(digest)) }

  func setPart(_ part: Data) { set(Self.partKey(Data(SHA256.digest(part))), part) }

  /// The parts that aren't there, among some.
  func missingParts(_ digests: [Data]) throws -> [Data] {
    let present = try history.attachedValues(digests.map(Self.partKey))
    return digests.filter { present[Self.partKey($0)] == nil }
  }

  // MARK: Users

  /// Records that a fact or change set names the parts of another value, so that those that nothing names are deleted.
  ///
  /// - Parameter user: Its key.
  func setParts(namedBy user: Data, from former: [Data], to new: [Data]) {
    guard former != new else { return }
    for digest in former {
      set(Self.userPrefix(digest) + user, nil)
      released.insert(digest)
    }
    for digest in new { set(Self.userPrefix(digest) + user, Data()) }
  }

  /// Deletes the parts that nothing names any longer.
  func removeReleasedParts() throws {
    for digest in released {
      let prefix = Self.userPrefix(digest)
      let present = try entries(withPrefix: prefix).contains { changes.values[$0.key] == nil }
      let isNamed = present || changes.values.contains { $0.value != nil && $0.key.starts(with: prefix) }
      if !isNamed { set(Self.partKey(digest), nil) }
    }
    released = []
  }

  /// The digests of the parts that a content names; none for a value that isn't large.
  static func digests(in content: Data?) -> [Data] { content.flatMap { PortableValue.large($0) }?.digests ?? [] }
}
