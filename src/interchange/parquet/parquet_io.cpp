/* SPDX-License-Identifier: MIT */
#include "interchange/parquet/parquet_io.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <latch>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

namespace ald_parquet
{

/* ---- memory. The host's allocator aligns like malloc; in front of each piece is how far it was moved. */

constexpr int64_t ALIGNMENT = 64;

/* What Arrow gets for no bytes: never read, never given back. */
alignas(64) static uint8_t no_bytes[1];

HostPool *HostPool::create(const ald_allocator &alloc, int64_t piece_limit)
{
    return new HostPool(alloc, piece_limit);
}

void HostPool::drop()
{
    if (--owners_ == 0)
        delete this;
}

void HostPool::retire()
{
    drop();
}

arrow::Status HostPool::check_size(int64_t size, int64_t alignment)
{
    if (size < 0 || alignment > ALIGNMENT)
        return arrow::Status::Invalid("a piece of memory of ", size, " bytes");
    if (size > piece_limit_) {
        refused_ = size;
        return arrow::Status::OutOfMemory("a piece of ", size, " bytes is over the limit");
    }
    return arrow::Status::OK();
}

/* How far into a block the piece begins. */
static uint8_t move_of(const uint8_t *block)
{
    return static_cast<uint8_t>(
        ALIGNMENT - static_cast<int64_t>(reinterpret_cast<uintptr_t>(block) % ALIGNMENT));
}

arrow::Status HostPool::Allocate(int64_t size, int64_t alignment, uint8_t **out)
{
    ARROW_RETURN_NOT_OK(check_size(size, alignment));
    if (size == 0) {
        *out = no_bytes;
        return arrow::Status::OK();
    }
    auto *block =
        static_cast<uint8_t *>(alloc_.alloc(alloc_.ctx, static_cast<size_t>(size + ALIGNMENT)));
    if (block == nullptr)
        return arrow::Status::OutOfMemory("no memory for ", size, " bytes");
    *out = block + move_of(block);
    (*out)[-1] = move_of(block);
    bytes_ += size;
    total_ += size;
    count_++;
    owners_++;
    return arrow::Status::OK();
}

/* By the host's own way to resize, which for large pieces copies nothing. */
arrow::Status HostPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                   uint8_t **ptr)
{
    if (*ptr == no_bytes || new_size == 0) {
        uint8_t *moved = nullptr;
        ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
        Free(*ptr, old_size, alignment);
        *ptr = moved;
        return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(check_size(new_size, alignment));
    uint8_t old_move = (*ptr)[-1];
    auto *block = static_cast<uint8_t *>(alloc_.resize(alloc_.ctx, *ptr - old_move,
                                                       static_cast<size_t>(old_size + ALIGNMENT),
                                                       static_cast<size_t>(new_size + ALIGNMENT)));
    if (block == nullptr)
        return arrow::Status::OutOfMemory("no memory for ", new_size, " bytes");
    *ptr = block + move_of(block);
    if (move_of(block) != old_move)
        std::memmove(*ptr, block + old_move, static_cast<size_t>(std::min(old_size, new_size)));
    (*ptr)[-1] = move_of(block);
    bytes_ += new_size - old_size;
    total_ += std::max<int64_t>(new_size - old_size, 0);
    return arrow::Status::OK();
}

void HostPool::Free(uint8_t *buffer, int64_t size, int64_t)
{
    if (buffer == no_bytes)
        return;
    uint8_t *block = buffer - buffer[-1];
    alloc_.release(alloc_.ctx, block, static_cast<size_t>(size + ALIGNMENT));
    bytes_ -= size;
    drop();
}

/* ---- threads */

constexpr size_t THREAD_BYTES = size_t{64} << 10; /* of them all, and then some */

static arrow::Status find_room(size_t size)
{
    void *room = std::malloc(size);
    std::free(room);
    return room != nullptr ? arrow::Status::OK()
                           : arrow::Status::OutOfMemory("no memory for a thread's own data");
}

arrow::Status enter_thread()
{
    static const auto some_pool = arrow::internal::ThreadPool::Make(1); /* starts none */
    ARROW_RETURN_NOT_OK(some_pool.status());
    ARROW_RETURN_NOT_OK(find_room(THREAD_BYTES));
    (void)std::uncaught_exceptions();
    (void)(*some_pool)->OwnsThisThread();
    return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::internal::ThreadPool>> start_threads(int count)
{
    std::latch started(count);
    std::vector<arrow::Future<>> tasks;
    ARROW_RETURN_NOT_OK(find_room(THREAD_BYTES * static_cast<size_t>(count)));
    ARROW_ASSIGN_OR_RAISE(auto pool, arrow::internal::ThreadPool::Make(count));
    arrow::Status status;
    for (int i = 0; i < count && status.ok(); i++) {
        auto task = pool->Submit([&started] {
            auto entered = enter_thread();
            started.arrive_and_wait(); /* so that no thread has two of these tasks */
            return entered;
        });
        status = task.status();
        if (status.ok())
            tasks.push_back(*task);
        else
            started.count_down(count - i);
    }
    for (auto &task : tasks)
        status &= task.status();
    ARROW_RETURN_NOT_OK(status);
    return pool;
}

/* ---- errors */

arrow::Status HostError::keep(ald_status status, const ald_error &error)
{
    std::lock_guard<std::mutex> guard(lock_);
    if (!is_set_) {
        error_ = error;
        error_.status = status;
        is_set_ = true;
    }
    return arrow::Status::IOError(error_.msg);
}

ald_status HostError::give(ald_error *err) const
{
    *err = error_;
    return static_cast<ald_status>(error_.status);
}

/* ---- bytes in */

int64_t SourceFile::clip(int64_t position, int64_t size) const
{
    auto end = static_cast<int64_t>(source_.size_bytes);
    return position < 0 || position >= end || size < 0 ? 0 : std::min(size, end - position);
}

arrow::Status SourceFile::Seek(int64_t position)
{
    position_ = position;
    return arrow::Status::OK();
}

arrow::Result<int64_t> SourceFile::ReadAt(int64_t position, int64_t size, void *out)
{
    int64_t count = clip(position, size);
    ald_error error{};
    if (count == 0)
        return 0;
    ald_status status = source_.read_at(source_.ctx, static_cast<uint64_t>(position), out,
                                        static_cast<size_t>(count), &error);
    if (status != ALD_OK)
        return error_->keep(status, error);
    return count;
}

/* The size is cut to what the file has before memory is asked for. */
arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::ReadAt(int64_t position, int64_t size)
{
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(clip(position, size), pool_));
    ARROW_RETURN_NOT_OK(ReadAt(position, size, buffer->mutable_data()).status());
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> SourceFile::Read(int64_t size, void *out)
{
    ARROW_ASSIGN_OR_RAISE(int64_t count, ReadAt(position_, size, out));
    position_ += count;
    return count;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::Read(int64_t size)
{
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, size));
    position_ += buffer->size();
    return buffer;
}

/* ---- bytes out */

arrow::Status SinkStream::Write(const void *data, int64_t size)
{
    ald_error error{};
    if (refused_ || error_->is_set())
        return arrow::Status::IOError("writing has failed before");
    ald_status status = sink_.write(sink_.ctx, data, static_cast<size_t>(size), &error);
    if (status != ALD_OK)
        return error_->keep(status, error);
    position_ += size;
    return arrow::Status::OK();
}

} // namespace ald_parquet
