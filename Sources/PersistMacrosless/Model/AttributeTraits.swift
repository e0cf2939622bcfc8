import Foundation
public import Persist

/// The traits of a declared attribute other than its Swift type and default.
public struct AttributeTraits {
  var name: String?
  var type: AttributeType?
  var renamedFrom: String?
  var isOptional: Bool?
  var isUnique = false
  var isIndexed = false
  var allowsExternalStorage = false
  var isPreservedOnDeletion = false
  var isTransient = false
  var derivation: String?
  var bounds: (any ValueBounds)?
  var lengths: (any ValueBounds)?
  var pattern: String?
  var rule: String?
  var warning: String?
  var transformer: String?
  var versionHashModifier: String?
  var userInfo: [String: String] = [:]

  @usableFromInline
  init(
    name: String? = nil, type: AttributeType? = nil, renamedFrom: String? = nil, isOptional: Bool? = nil,
    isUnique: Bool = false, isIndexed: Bool = false, allowsExternalStorage: Bool = false,
    isPreservedOnDeletion: Bool = false, isTransient: Bool = false, derivation: String? = nil,
    bounds: (any ValueBounds)? = nil, lengths: (any ValueBounds)? = nil, pattern: String? = nil, rule: String? = nil,
    warning: String? = nil, transformer: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:], fullText: FullTextSearch? = nil,
    serverTimestamp: Bool = false
  ) {
    self.name = name
    self.type = type
    self.renamedFrom = renamedFrom
    self.isOptional = isOptional
    self.isUnique = isUnique
    self.isIndexed = isIndexed
    self.allowsExternalStorage = allowsExternalStorage
    self.isPreservedOnDeletion = isPreservedOnDeletion
    self.isTransient = isTransient
    self.derivation = derivation
    self.bounds = bounds
    self.lengths = lengths
    self.pattern = pattern
    self.rule = rule
    self.warning = warning
    self.transformer = transformer
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    if serverTimestamp { self.userInfo[AttributeDescription.serverTimestampKey] = "YES" }
    if let fullText { self.userInfo[FullTextSearch.userInfoKey] = fullText.description }
  }
}
