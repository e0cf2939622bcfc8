import Foundation
import Persist

/// A row that only one transaction writes, in a table of Persist's own: the proof that the transaction was committed.
///
/// The server's number of a transaction is no such proof: after a crash, the server may assign the number of a
/// transaction that was lost to another one.
///
/// A program that asks for the outcome inserts the row as well, as a claim. Exactly one of the two succeeds: if the
/// transaction is still running, the server lets the claim wait for its end; if it arrives only afterward, it fails.
struct CommitProof: Hashable, Sendable {
  /// Identifies the connection of the writer.
  let writer: UUID
  /// The number of the transaction on its connection, from 1.
  let number: Int64

  /// The number of proofs after which a writer deletes its former ones.
  private static let batch: Int64 = 64

  private func insertion(isCommitted: Bool) -> ServerText {
    """
    INSERT INTO \(table: ServerText.proofTable) (writer, number, is_committed) \
    VALUES (\(parameter: writerParameter), \(integer: number), \(isCommitted ? "true" : "false"))
    """
  }

  /// Writes the proof if the store has a mark, and fails as ``ServerFailure/isOfMark`` otherwise.
  private func insertion(requiring mark: ServerMark, _ texts: ServerTexts, _ change: CheckedChange?) -> ServerText {
    let own: [ServerParameter] = [writerParameter, .integer(number)]
    let parameters = (change?.parameters ?? []) + own + (change.map { [$0.countParameter] } ?? []) + mark.parameters
    return texts.statement(.proof(change?.shape), binding: parameters) {
      """
      \(change?.definition ?? "")INSERT INTO \(table: ServerText.proofTable) (writer, number, is_committed) \
      SELECT \(parameter: writerParameter), \(integer: number), \(change?.condition ?? "")\(mark.requirement)
      """
    }
  }

  private var writerParameter: ServerParameter {
    withUnsafeBytes(of: writer.uuid) { ServerParameter(type: .uuid, bytes: Array($0)) }
  }

  /// Writes the proof within the transaction, and deletes proofs that nobody asks for any longer.
  ///
  /// - Parameters:
  ///   - mark: The mark without which the first statement fails, and the texts of statements; nil to write in any case.
  ///   - change: A change that the first statement makes and checks too; nil for none. Requires a mark.
  func statements(
    requiring mark: (mark: ServerMark, texts: ServerTexts)? = nil, making change: CheckedChange? = nil
  ) -> [ServerText] {
    var statements = [mark.map { insertion(requiring: $0.mark, $0.texts, change) } ?? insertion(isCommitted: true)]
    if number == 1 {
      // Those of programs that have ended. Others may delete the same rows at this moment.
      statements.append(
        """
        DELETE FROM \(table: ServerText.proofTable) WHERE (writer, number) IN (SELECT writer, number \
        FROM \(table: ServerText.proofTable) WHERE at < now() - interval '1 day' FOR UPDATE SKIP LOCKED)
        """)
    } else if number % Self.batch == 0 {
      // A connection runs one transaction at a time, so the outcomes of the former ones are known.
      statements.append(
        """
        DELETE FROM \(table: ServerText.proofTable) WHERE writer = \(parameter: writerParameter) \
        AND number BETWEEN \(integer: number - Self.batch) AND \(integer: number - 1)
        """)
    }
    return statements
  }

  /// Writes the claim, unless there is the proof. Waits for the end of the transaction if it is running.
  var claim: ServerText { "\(insertion(isCommitted: false)) ON CONFLICT DO NOTHING" }

  /// Reads whether the row is the proof.
  var isCommitted: ServerText {
    """
    SELECT is_committed FROM \(table: ServerText.proofTable) \
    WHERE writer = \(parameter: writerParameter) AND number = \(integer: number)
    """
  }
}

/// Numbers the transactions of one connection.
final class CommitProofs {
  private let writer = UUID()
  private var number: Int64 = 0

  func next() -> CommitProof {
    number += 1
    return CommitProof(writer: writer, number: number)
  }
}
