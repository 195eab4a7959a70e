package fuzz

// Rules of the commit protocol (SPEC.md section 15, by its numbers), and hazards
// that users of similar tools met, with the tests that protect from them. A test
// of this package holds that each of them exists.
//
//	rule 1   ghost frames                    fuzz.TestCrashLives fuzz.TestMutations fuzz.TestBlendedCopies wal.TestCrashes
//	rule 2   a page cache that lies          fuzz.TestFoundReuseBeforeConfirm fuzz.TestKillEverywhere fuzz.TestUnheardSyncs disk.TestFailedSyncLies
//	rule 3   a witness for the last group    fuzz.TestDamageLog wal.TestEveryBitFlip fuzz.TestFoundPromiseWithoutSpace
//	rule 4   what is promised                fuzz.TestCrashCore wal.TestEveryBitFlip fuzz.TestMutations
//	rule 5   visible before durable          engine.TestReadersBesideAWriter engine.TestRepeatedBatchIsDurableAfterSync engine.TestRepeatedKeys
//	rule 6   reuse and the fallback slot     fuzz.TestCrashCore fuzz.TestLyingSyncs fuzz.TestFoundConfirmRewritesSuperblock engine.TestStaleSuperblockBesideANewCatalog
//	rule 7   live copies                     engine.TestPiecewiseCopies engine.TestCopiesWhileWriting fuzz.TestCopiesWhileWritten
//	rule 8   readers and reuse               engine.TestReadersBesideAWriter engine.TestCommandsBesideAWriter engine.TestCloseWhileTheLogIsRead
//	rule 9   creation                        engine.TestCreatorsMakeOneFile engine.TestInterruptedClaim engine.TestEmptyFileBecomesOne fuzz.TestCrashLives
//	rule 10  read errors are no tail         fuzz.TestFailingDisk wal.TestScanFailedReads
//	rule 11  forgotten turns                 format.TestVectors
//	rule 12  ids given once                  fuzz.TestHistories fuzz.TestDamageLog engine.TestSalvageWrecks
//	rule 13  a file inside a file            wal.TestLogInsideAPayload
//	rule 14  large batches                   engine.TestLargeBatches fuzz.TestHistories
//	rule 15  full disks                      fuzz.TestFullDisk fuzz.TestFailingDisk engine.TestFullDiskDoesNotFailClose engine.TestNothingIsWrittenAfterAFailedSync
//	rule 16  rotation                        wal.TestCrashes fuzz.TestCrashCore
//	rule 17  damage below the promise        wal.TestEveryBitFlip fuzz.TestHostileFiles engine.TestSourcesBehindDamage
//	rule 18  traces and window state         engine.TestAsideNeedsNoSync engine.TestAsideDamage engine.TestAsideOnFullDisk
//	rule 19  locks                           engine.TestReopenBesideForks engine.TestSameFileTwiceInOneProcess engine.TestSecondWriterIsToldWhoHoldsTheLock disk.TestOSLockAcrossProcesses
//	rule 20  replaced files                  engine.TestReplacedFile
//	rule 21  catalog growth                  engine.TestSealRewritesOneLeaf
//	rule 22  negative look-ups               engine.TestLargeBatchLeavesFewPlacesToLookForAKey engine.TestDamagedKeyPagesAreNotForEver
//	rule 23  same content                    engine.TestRepeatedKeys fuzz.TestHistories
//	rule 24  sealing beside commits          engine.TestSealingWritesInSyncedPieces fuzz.TestCrashBackground engine.TestNothingIsWrittenAfterAFailedSync
//	rule 25  faults of the map               engine.TestTruncatedUnderUs segment.TestTruncatedUnderUs segment.TestDamageUnderMap segment.TestLastReferenceUnmaps
//	rule 26  platforms                       disk.TestConformance disk.TestForbidMapping fuzz.TestSameTurnsUnderAllOptions
//	rule 27  small files                     engine.TestSmallFilesStaySmall
//	rule 28  bulk                            engine.TestLargeBatches engine.TestMillionTinyTurns
//
//	hazard 1   a torn last record             fuzz.TestCrashCore engine.TestCrashedFileIsRecovered
//	hazard 2   one bad record in the middle   fuzz.TestHostileFiles segment.TestEveryBit segment.TestAllGoesOn wal.TestEveryBitFlip
//	hazard 3   history rewritten at opening   fuzz.TestCrashLives ctxdb.TestScripts
//	hazard 4   locked, and silently off       engine.TestSecondWriterIsToldWhoHoldsTheLock
//	hazard 5   appends past garbage           wal.TestWriterFailedWrite fuzz.TestFailingDisk
//	hazard 6   a torn tail is appended to     fuzz.TestCrashLives wal.TestCrashes
//	hazard 7   recovery by hand               engine.TestKillNine fuzz.TestCrashLives
//	hazard 8   a crash during recovery        fuzz.TestCrashCore fuzz.TestCrashLives
//	hazard 9   days of re-indexing            engine.TestMillionTinyTurns
//	hazard 10  panic at open                  fuzz.TestHostileFiles fuzz.FuzzOpen
//	hazard 11  readers hang                   engine.TestReadersBesideAWriter engine.TestCommandsBesideAWriter
//	hazard 12  files never shrink             engine.TestSmallFilesStaySmall engine.TestMergingRunsLosesNoSpace
//	hazard 13  memory of large jobs           transcript.TestMemoryIsBounded
//	hazard 14  full disk                      fuzz.TestFullDisk engine.TestFullDiskDoesNotFailClose
//	hazard 15  the mapped file is truncated   engine.TestTruncatedUnderUs segment.TestTruncatedUnderUs
//	hazard 16  memory of the caller's         engine.TestReturnedMemoryIsOwned wal.TestWriterPayloadsAreStable
//	hazard 17  copies without a side file     engine.TestSparseCopies fuzz.TestCopiesWhileWritten engine.TestPiecewiseCopies
//	hazard 18  a file swapped under us        engine.TestReplacedUnderUs engine.TestReplacedFile fuzz.TestBlendedCopies
//	hazard 19  hostile lengths                format.TestVectors segment.TestDecompressionBomb fuzz.FuzzOpen format.TestRootLengthIsBounded
//	hazard 20  recycled logs                  fuzz.TestCrashLives engine.TestLogIsFilledAndReusedManyTimes fuzz.TestLeftoversAreNoTornTail
//	hazard 21  deleted keys come back         format.TestVectors
//	hazard 22  repair destroys                engine.TestSalvageRefuses engine.TestSalvageYield
//	hazard 23  broken looks empty             engine.TestBadFiles fuzz.TestHostileFiles
//	hazard 24  two writers                    engine.TestSecondWriterIsToldWhoHoldsTheLock engine.TestSameFileTwiceInOneProcess
