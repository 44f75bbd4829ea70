/* SPDX-License-Identifier: MIT */
/* The host's memory, bytes in and bytes out, as Arrow wants them. */
#ifndef INTERCHANGE_PARQUET_IO_HPP
#define INTERCHANGE_PARQUET_IO_HPP

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/util/thread_pool.h>

#include "ald/io.h"

namespace ald_parquet
{

/* Memory of the host. Batches may outlive everything else, so the pool lives until its last byte is given back. */
class HostPool final : public arrow::MemoryPool
{
  public:
    /* Pieces above `piece_limit` bytes are refused. */
    static HostPool *create(const ald_allocator &alloc, int64_t piece_limit);
    /* The owner is done; what is still handed out keeps the pool. */
    void retire();

    using arrow::MemoryPool::Allocate;
    using arrow::MemoryPool::Free;
    using arrow::MemoryPool::Reallocate;
    arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t **out) override;
    arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                             uint8_t **ptr) override;
    void Free(uint8_t *buffer, int64_t size, int64_t alignment) override;
    int64_t bytes_allocated() const override
    {
        return bytes_;
    }
    int64_t total_bytes_allocated() const override
    {
        return total_;
    }
    int64_t num_allocations() const override
    {
        return count_;
    }
    std::string backend_name() const override
    {
        return "ald";
    }

    /* The size of a piece that was refused as too large; 0: none was. */
    int64_t refused_bytes() const
    {
        return refused_;
    }

  private:
    HostPool(const ald_allocator &alloc, int64_t piece_limit)
        : alloc_(alloc), piece_limit_(piece_limit)
    {
    }
    void drop();
    arrow::Status check_size(int64_t size, int64_t alignment);

    ald_allocator alloc_;
    int64_t piece_limit_;
    std::atomic<int64_t> bytes_{0}, total_{0}, count_{0}, refused_{0};
    std::atomic<int64_t> owners_{1}; /* pieces handed out, and the creator */
};

struct PoolRetire {
    void operator()(HostPool *pool) const
    {
        pool->retire();
    }
};
using PoolPtr = std::unique_ptr<HostPool, PoolRetire>;

/* Every thread calls it before it does anything here. A thread gets its own data of Arrow's and C++'s libraries when it first
 * uses them, and where there is no memory for them the loader ends the process: so it is looked for before. */
arrow::Status enter_thread();
/* `count` threads that have done so. */
arrow::Result<std::shared_ptr<arrow::internal::ThreadPool>> start_threads(int count);

/* The first error that the host gave, which Arrow's own status cannot carry. From any thread. */
class HostError
{
  public:
    arrow::Status keep(ald_status status, const ald_error &error);
    bool is_set() const
    {
        return is_set_;
    }
    ald_status give(ald_error *err) const;

  private:
    std::mutex lock_;
    std::atomic<bool> is_set_{false};
    ald_error error_{};
};

class SourceFile final : public arrow::io::RandomAccessFile
{
  public:
    SourceFile(const ald_source &source, arrow::MemoryPool *pool, HostError *error)
        : source_(source), pool_(pool), error_(error)
    {
    }
    arrow::Status Close() override
    {
        return arrow::Status::OK();
    }
    bool closed() const override
    {
        return false;
    }
    arrow::Result<int64_t> Tell() const override
    {
        return position_;
    }
    arrow::Status Seek(int64_t position) override;
    arrow::Result<int64_t> GetSize() override
    {
        return static_cast<int64_t>(source_.size_bytes);
    }
    arrow::Result<int64_t> Read(int64_t size, void *out) override;
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override;
    arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void *out) override;
    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override;

  private:
    int64_t clip(int64_t position, int64_t size) const;

    ald_source source_;
    arrow::MemoryPool *pool_;
    HostError *error_;
    int64_t position_ = 0;
};

class SinkStream final : public arrow::io::OutputStream
{
  public:
    SinkStream(const ald_sink &sink, HostError *error) : sink_(sink), error_(error) {}
    arrow::Status Close() override
    {
        closed_ = true;
        return arrow::Status::OK();
    }
    bool closed() const override
    {
        return closed_;
    }
    arrow::Result<int64_t> Tell() const override
    {
        return position_;
    }
    arrow::Status Write(const void *data, int64_t size) override;
    /* Nothing more is written. */
    void refuse()
    {
        refused_ = true;
    }

  private:
    ald_sink sink_;
    HostError *error_;
    int64_t position_ = 0;
    bool closed_ = false, refused_ = false;
};

} // namespace ald_parquet
#endif
