import Foundation
import Persist

// Unchecked: immutable.
/// An expression for the results of a request, which is executed each time when a predicate with the expression is
/// created.
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
  /// The expression for the request.
  public let requestExpression: NSExpression
  /// The expression for the context.
  public let contextExpression: NSExpression
  /// Whether the value is the number of results.
  public let isCountOnlyRequest: Bool

  private init(_ request: NSExpression, _ context: NSExpression, countOnly: Bool) {
    requestExpression = request
    contextExpression = context
    isCountOnlyRequest = countOnly
    super.init(.constant(.null))
  }

  /// Returns an expression for the results of a request, or for their number.
  ///
  /// - Parameters:
  ///   - request: A constant, the request.
  ///   - context: A constant, the context. Create predicates with the expression on its queue.
  ///   - countOnly: Whether the value is the number of results.
  public class func expression(
    forFetch request: NSExpression, context: NSExpression, countOnly: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(request, context, countOnly: countOnly)
  }

  package override var fetchExpression: FetchExpression {
    guard let request = requestExpression.constantObject as? any FetchingRequest,
      let context = contextExpression.constantObject as? NSManagedObjectContext
    else { stop("A fetch expression needs a request and a context as constants.") }
    do {
      return try PredicateArgument.expression(
        isCountOnlyRequest ? request.count(in: context) : request.comparedResults(in: context))
    } catch {
      stop("The request of a fetch expression can't be executed: \(error)")
    }
  }

  open override var description: String {
    "FETCH(\(requestExpression), \(contextExpression), \(isCountOnlyRequest ? "YES" : "NO"))"
  }
  open override func isEqual(_ other: Any?) -> Bool { other as? NSFetchRequestExpression === self }
  open override var hash: Int { ObjectIdentifier(self).hashValue }
}

extension NSFetchRequest {
  func count(in context: NSManagedObjectContext) throws -> Int { try context.count(for: self) }

  /// The results as values that a predicate compares: those of the only column, or identifiers.
  func comparedResults(in context: NSManagedObjectContext) throws -> [Any] {
    guard resultType == .dictionaryResultType, let columns = propertiesToFetch, columns.count == 1 else {
      let request = returning(NSManagedObjectID.self)
      request.resultType = .managedObjectIDResultType
      return try context.fetch(request)
    }
    return try context.fetch(returning(NSDictionary.self)).flatMap { row in row.map { $0.value } }
  }
}
