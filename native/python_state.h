// A State and an Inbox that are Python objects, by duck typing.
//
// A Python error becomes a C++ exception that carries nothing: the error indicator stays set, and Cython
// lets it through where it meets the exception (`except +`).
#pragma once

#include <Python.h>

#include <stdexcept>

#include "core/mate.h"
#include "core/state.h"

namespace goryu {

struct PythonError : std::runtime_error {
    PythonError() : std::runtime_error("a Python error") {}
};

// Owns a reference; refuses null, which is what the C API returns for an error.
class Reference {
public:
    explicit Reference(PyObject* object) : object_(object) {
        if (object == nullptr) throw PythonError();
    }
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    ~Reference() { Py_DECREF(object_); }
    PyObject* get() const noexcept { return object_; }
    bool is_none() const noexcept { return object_ == Py_None; }

private:
    PyObject* object_;
};

inline Reference attribute(PyObject* object, const char* name) { return Reference(PyObject_GetAttrString(object, name)); }
inline Reference call(PyObject* object, const char* name) { return Reference(PyObject_CallMethod(object, name, nullptr)); }

inline std::uint64_t unsigned_of(PyObject* object) {
    const std::uint64_t number = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred()) throw PythonError();
    return number;
}

inline double double_of(PyObject* object) {
    const double number = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) throw PythonError();
    return number;
}

// Plays on a Python state; to be used with the GIL held.
class PythonState final : public State {
public:
    // solve: mate.solve, or None for a game without checks. verdict: MateVerdict.MATE. Borrows all three.
    PythonState(PyObject* state, PyObject* solve, PyObject* verdict) : state_(state), solve_(solve), verdict_(verdict) {}

    int turn() override { return static_cast<int>(unsigned_of(attribute(state_, "turn").get())); }
    std::uint32_t ply() override { return static_cast<std::uint32_t>(unsigned_of(attribute(state_, "ply").get())); }
    std::uint64_t key() override { return unsigned_of(attribute(state_, "key").get()); }
    void push(Move move) override { Reference(PyObject_CallMethod(state_, "push", "i", int{move})); }
    void pop() override { call(state_, "pop"); }
    std::optional<double> outcome() override { return value_of_result(call(state_, "outcome")); }
    std::optional<double> repetition() override { return value_of_result(call(state_, "repetition")); }

    void legal_moves(std::vector<Move>& moves) override {
        const Reference listed = call(state_, "legal_moves");
        const Reference fast(PySequence_Fast(listed.get(), "expected a list of legal moves"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
            const std::uint64_t move = unsigned_of(PySequence_Fast_GET_ITEM(fast.get(), i));
            if (move > 0xFFFF) {
                PyErr_Format(PyExc_OverflowError, "expected a move in [0, 65535], received %llu", move);
                throw PythonError();
            }
            moves.push_back(static_cast<Move>(move));
        }
    }

    std::optional<ForcedMate> find_mate(int nodes) override {
        if (solve_ == Py_None) return {};
        const Reference mate(PyObject_CallFunction(solve_, "Oi", state_, nodes));
        if (attribute(mate.get(), "verdict").get() != verdict_) return {};
        const Reference line = attribute(mate.get(), "moves");
        const Reference first(PySequence_GetItem(line.get(), 0));
        return ForcedMate{static_cast<Move>(unsigned_of(first.get())), static_cast<int>(PySequence_Size(line.get()))};
    }

private:
    static std::optional<double> value_of_result(const Reference& result) {
        if (result.is_none()) return {};
        return double_of(attribute(result.get(), "value").get());
    }

    PyObject* state_;
    PyObject* solve_;
    PyObject* verdict_;
};

// Appends copies of a Python state to a list; takes the GIL itself.
class PythonInbox final : public Inbox {
public:
    // Borrows both.
    PythonInbox(PyObject* state, PyObject* list) : state_(state), list_(list) {}

    void add(std::size_t) override {
        const PyGILState_STATE gil = PyGILState_Ensure();
        PyObject* const copy = PyObject_CallMethod(state_, "copy", nullptr);
        const bool added = copy != nullptr && PyList_Append(list_, copy) == 0;
        Py_XDECREF(copy);
        PyGILState_Release(gil);
        if (!added) throw PythonError();
    }

private:
    PyObject* state_;
    PyObject* list_;
};

// Asks a Python function; takes the GIL itself.
class PythonStopper final : public MateSearch::Stopper {
public:
    // Borrows it.
    explicit PythonStopper(PyObject* should_stop) : should_stop_(should_stop) {}

    bool should_stop() override {
        const PyGILState_STATE gil = PyGILState_Ensure();
        PyObject* const answer = PyObject_CallNoArgs(should_stop_);
        const int stops = answer != nullptr ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        PyGILState_Release(gil);
        if (stops < 0) throw PythonError();
        return stops != 0;
    }

private:
    PyObject* should_stop_;
};

}  // namespace goryu
